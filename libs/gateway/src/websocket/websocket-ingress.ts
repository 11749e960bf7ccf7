/**
 * The common part of the WebSocket ingresses: headers, credentials and limits before the upgrade,
 * pings and traffic limits after it. Subclasses know the headers and first messages of a dialect.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import type { CloseReason, DeviceId } from '@flotilla/mcp';
import type { Clock } from '@flotilla/session';
import { askAuth } from '../auth/auth-question.js';
import type { AuthQuestion } from '../auth/auth-question.js';
import type { ConnectionRefusal, GatewayCounters } from '../gateway-counters.js';
import type { GatewayLimits } from '../gateway-limits.js';
import type { GatewayLogger } from '../gateway-logger.js';
import type { DeviceFailures } from '../overload/device-failures.js';
import type { Lobby } from '../overload/lobby.js';
import { refuseUpgrade } from '../refuse-upgrade.js';
import type { UpgradeRefusal } from '../refuse-upgrade.js';
import type { ClientAddress, Peer, SessionHost } from '../sessions/session-host.js';
import { meterTraffic } from './websocket-traffic.js';
import { WebSocketTransport } from './websocket-transport.js';

export interface WebSocketIngressOptions {
  readonly host: SessionHost;
  readonly lobby: Lobby;
  readonly attempts: DeviceFailures;
  readonly clock: Clock;
  readonly limits: GatewayLimits;
  readonly counters: GatewayCounters;
  readonly addressOf: ClientAddress;
  readonly logger: GatewayLogger;
}

/** A handshake with valid headers. */
export interface Handshake {
  readonly deviceId: DeviceId;
  /** The Client-Id, if the dialect has one. */
  readonly clientId?: string;
  readonly peer: Peer;
  readonly host: string | undefined;
  /** The claimed identity; attempts are counted by it. */
  readonly login: string;
  /** `SessionHost.expulsions` before the credentials are checked. */
  readonly expulsions: number;
  readonly ask: AuthQuestion['ask'];
}

/** A handshake with invalid headers. */
export interface Unreadable {
  readonly message: string;
}

export abstract class WebSocketIngress<Options extends WebSocketIngressOptions = WebSocketIngressOptions> {
  readonly #server: WebSocketServer;
  readonly #transports = new Set<WebSocketTransport>();
  #cancelRound: () => void = () => undefined;

  /** `subprotocol` is selected if a device offers it. */
  constructor(
    protected readonly options: Options,
    subprotocol?: string,
  ) {
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: true,
      perMessageDeflate: false,
      maxPayload: options.limits.messageBytesMax,
      maxFragments: options.limits.messageFragmentsMax,
      handleProtocols: (offered) => (subprotocol !== undefined && offered.has(subprotocol) ? subprotocol : false),
      // Forks send invalid UTF-8; a bad text must not close the connection. [xiaozhi §9, 44]
      skipUTF8Validation: true,
    });
  }

  protected abstract read(request: IncomingMessage): Handshake | Unreadable;
  /** Takes a device with valid credentials; calls `leaveLobby` after its first message. */
  protected abstract receive(socket: WebSocket, handshake: Handshake, leaveLobby: () => void): void;

  start(): void {
    this.#cancelRound = this.options.clock.setTimer(this.options.limits.pingIntervalMs, () => {
      for (const transport of this.#transports)
        if (!transport.checkPulse()) this.options.counters.add('peer', 'silent');
      this.start();
    });
  }

  /** Cuts connections that did not finish their closing handshake. Sessions are closed before. */
  stop(): void {
    this.#cancelRound();
    for (const socket of this.#server.clients) socket.terminate();
  }

  /** Takes over an upgrade request with its socket. */
  readonly upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const { addressOf, attempts, host, lobby } = this.options;
    const handshake = this.read(request);
    if ('message' in handshake) {
      attempts.failed(addressOf(request));
      this.#refuse(socket, 'handshake_invalid', { status: 400, code: 'HANDSHAKE_INVALID', message: handshake.message });
      return;
    }
    const { remoteAddress } = handshake.peer;
    if (!attempts.mayTry(remoteAddress, handshake.login)) {
      const message = 'too many failed attempts from this address, try again later';
      this.#refuse(socket, 'address_limited', { status: 429, code: 'OVERLOADED', message });
      return;
    }
    const isFull = host.isFullFor(handshake.deviceId);
    const leaveLobby = isFull ? undefined : lobby.enter(remoteAddress, () => socket.destroy());
    if (leaveLobby === undefined) return this.#refuseAsFull(socket);
    socket.once('close', leaveLobby);
    socket.on('error', () => socket.destroy());
    askAuth({ ask: handshake.ask, subject: { deviceId: handshake.deviceId } }, this.options, (verdict) => {
      if (socket.destroyed) return;
      if (verdict.kind === 'granted') {
        if (this.#mayEnter(socket, handshake))
          this.#server.handleUpgrade(request, socket, head, (ws) => this.receive(ws, handshake, leaveLobby));
      } else if (verdict.kind === 'undecided') {
        this.#refuse(socket, 'auth_unavailable', {
          status: 503,
          code: 'OVERLOADED',
          message: 'credentials could not be checked',
        });
      } else {
        attempts.failed(remoteAddress);
        this.#refuse(socket, verdict.reason, { status: 401, code: 'UNAUTHORIZED', message: verdict.message });
      }
    });
  };

  /** Enforces the traffic limits of a device. */
  protected meter(socket: WebSocket, { deviceId }: Handshake, end: (reason: CloseReason) => void) {
    const { clock, counters, host, limits } = this.options;
    return meterTraffic(socket, {
      clock,
      counters,
      limits,
      cut: () => end('traffic_exceeded'),
      report: (throttle) => host.report(deviceId, 'device.throttled', { transport: 'WEBSOCKET', ...throttle }),
    });
  }

  /** Makes the transport of a device. From now on the device is pinged. */
  protected open(socket: WebSocket, encoding?: 'latin1'): WebSocketTransport {
    const { clock, limits } = this.options;
    const transport = new WebSocketTransport(socket, { ...limits, clock, encoding });
    this.#transports.add(transport);
    socket.once('close', () => this.#transports.delete(transport));
    return transport;
  }

  #mayEnter(socket: Duplex, { deviceId, login, peer }: Handshake): boolean {
    const { attempts, host } = this.options;
    attempts.succeeded(peer.remoteAddress, login);
    // Others may have taken the last places while its credentials were checked.
    if (host.isFullFor(deviceId)) {
      this.#refuseAsFull(socket);
      return false;
    }
    const entry = host.welcome(deviceId, 'WEBSOCKET');
    if (entry === 'welcome') return true;
    const message = 'this device connects again and again; it has to wait';
    const retryAfterSeconds = Math.ceil(entry.retryAfterMs / 1_000);
    this.#refuse(socket, 'flapping', { status: 503, code: 'OVERLOADED', message, retryAfterSeconds });
    return false;
  }

  #refuseAsFull(socket: Duplex): void {
    const message = 'no room for another session, try again later';
    this.#refuse(socket, 'hub_full', { status: 503, code: 'OVERLOADED', message });
  }

  #refuse(socket: Duplex, reason: ConnectionRefusal, refusal: UpgradeRefusal): void {
    this.options.counters.add('refusal', reason);
    refuseUpgrade(socket, refusal);
  }
}

/** Reads a header, or a query parameter where a client cannot set headers. [xiaozhi §8, 4] */
export function headerOrQuery(request: IncomingMessage): (name: string) => string | undefined {
  const query = new URLSearchParams(request.url?.split('?', 2)[1]);
  return (name) => {
    const header = request.headers[name];
    return typeof header === 'string' ? header : (query.get(name) ?? undefined);
  };
}

/** The token of the Authorization header, with or without `Bearer`. */
export function tokenOf(request: IncomingMessage): string | undefined {
  return request.headers.authorization?.replace(/^Bearer\s+/i, '');
}
