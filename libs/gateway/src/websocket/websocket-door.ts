/**
 * What all ways in over WebSocket have in common: headers and credentials before the upgrade, the limits of strangers, pings and the limits of traffic afterwards. Which
 * headers a device sends, and what comes first on its connection, is its dialect's.
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
import type { FailedAttempts } from '../overload/failed-attempts.js';
import type { Lobby } from '../overload/lobby.js';
import { refuseUpgrade } from '../refuse-upgrade.js';
import type { UpgradeRefusal } from '../refuse-upgrade.js';
import type { ClientAddress, Peer, SessionHost } from '../sessions/session-host.js';
import { meterTraffic } from './websocket-traffic.js';
import { WebSocketTransport } from './websocket-transport.js';

export interface WebSocketDoorOptions {
  readonly host: SessionHost;
  readonly lobby: Lobby;
  readonly attempts: FailedAttempts;
  readonly clock: Clock;
  readonly limits: GatewayLimits;
  readonly counters: GatewayCounters;
  readonly addressOf: ClientAddress;
  readonly logger: GatewayLogger;
}

/** A handshake whose headers were understood. */
export interface Handshake {
  readonly deviceId: DeviceId;
  /** Of devices that have one. */
  readonly clientId?: string;
  readonly peer: Peer;
  readonly host: string | undefined;
  /** Who claims to come: attempts are counted by it. */
  readonly login: string;
  readonly ask: AuthQuestion['ask'];
}

/** A handshake whose headers were not. */
export interface Unreadable {
  readonly message: string;
}

export abstract class WebSocketDoor<Options extends WebSocketDoorOptions = WebSocketDoorOptions> {
  readonly #server: WebSocketServer;
  readonly #transports = new Set<WebSocketTransport>();
  #cancelRound: () => void = () => undefined;

  /** `subprotocol` is agreed on where a device offers it. */
  constructor(
    protected readonly options: Options,
    subprotocol?: string,
  ) {
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: true,
      perMessageDeflate: false,
      maxPayload: options.limits.messageBytesMax,
      handleProtocols: (offered) => (subprotocol !== undefined && offered.has(subprotocol) ? subprotocol : false),
      // Forks send invalid UTF-8; a bad text must not close the connection. [xiaozhi §9, 44]
      skipUTF8Validation: true,
    });
  }

  protected abstract read(request: IncomingMessage): Handshake | Unreadable;
  /** A device that proved who it is. `leaveLobby` is to be called when it has introduced itself. */
  protected abstract receive(socket: WebSocket, handshake: Handshake, leaveLobby: () => void): void;

  start(): void {
    this.#cancelRound = this.options.clock.setTimer(this.options.limits.pingIntervalMs, () => {
      for (const transport of this.#transports)
        if (!transport.checkPulse()) this.options.counters.add('peer', 'silent');
      this.start();
    });
  }

  /** Sessions are closed by then: cuts what has not finished its closing handshake. */
  stop(): void {
    this.#cancelRound();
    for (const socket of this.#server.clients) socket.terminate();
  }

  /** Takes over an upgrade request, socket included. */
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
    const leaveLobby = host.isFull ? undefined : lobby.enter(remoteAddress, () => socket.destroy());
    if (leaveLobby === undefined) {
      this.#refuse(socket, 'hub_full', {
        status: 503,
        code: 'OVERLOADED',
        message: 'no room for another session, try again later',
      });
      return;
    }
    socket.once('close', leaveLobby);
    socket.on('error', () => socket.destroy());
    askAuth({ ask: handshake.ask, subject: { deviceId: handshake.deviceId } }, this.options, (verdict) => {
      if (socket.destroyed) return;
      if (verdict.kind === 'granted') {
        if (this.#isWelcome(socket, handshake))
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

  /** Holds the socket to the limits of a device's traffic. */
  protected meter(socket: WebSocket, { deviceId }: Handshake, end: (reason: CloseReason) => void): void {
    const { clock, counters, host, limits } = this.options;
    meterTraffic(socket, {
      ...{ clock, counters, limits },
      cut: () => end('traffic_exceeded'),
      tell: (news) => host.report(deviceId, 'device.throttled', { transport: 'WEBSOCKET', ...news }),
    });
  }

  /** The path of a device that has introduced itself; from now on it is pinged. */
  protected open(socket: WebSocket): WebSocketTransport {
    const { clock, limits } = this.options;
    const transport = new WebSocketTransport(socket, { ...limits, clock });
    this.#transports.add(transport);
    socket.once('close', () => this.#transports.delete(transport));
    return transport;
  }

  #isWelcome(socket: Duplex, { deviceId, login, peer }: Handshake): boolean {
    const { attempts, host } = this.options;
    attempts.succeeded(peer.remoteAddress, login);
    const entry = host.welcome(deviceId, 'WEBSOCKET');
    if (entry === 'welcome') return true;
    const message = 'this device connects again and again; it has to wait';
    const retryAfterSeconds = Math.ceil(entry.retryAfterMs / 1_000);
    this.#refuse(socket, 'flapping', { status: 503, code: 'OVERLOADED', message, retryAfterSeconds });
    return false;
  }

  #refuse(socket: Duplex, reason: ConnectionRefusal, refusal: UpgradeRefusal): void {
    this.options.counters.add('refusal', reason);
    refuseUpgrade(socket, refusal);
  }
}

/** Reads a value from the headers, or from the query string where a proxy or a browser cannot set them. [xiaozhi §8, 4] */
export function headerOrQuery(request: IncomingMessage): (name: string) => string | undefined {
  const query = new URLSearchParams(request.url?.split('?', 2)[1]);
  return (name) => {
    const header = request.headers[name];
    return typeof header === 'string' ? header : (query.get(name) ?? undefined);
  };
}

/** Of the Authorization header, with or without `Bearer` before it. */
export function tokenOf(request: IncomingMessage): string | undefined {
  return request.headers.authorization?.replace(/^Bearer\s+/i, '');
}
