/**
 * The way in over WebSocket: headers and token before the upgrade, then the device's hello, which the session answers before anything else is said,
 * because the device holds all its replies back until then. [xiaozhi §1.2, §1.3]
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { RawData, WebSocket } from 'ws';
import { clientIdMax, parseDeviceEnvelope, parseDeviceHello, parseDeviceIdHeader } from '@flotilla/mcp';
import type { CloseReason, DeviceId, JsonObject } from '@flotilla/mcp';
import type { Clock } from '@flotilla/session';
import { askAuth } from '../auth/auth-question.js';
import type { DeviceAuth, WebSocketCredentials } from '../auth/device-auth.js';
import type { ConnectionRefusal, GatewayCounters } from '../gateway-counters.js';
import type { GatewayLimits } from '../gateway-limits.js';
import type { GatewayLogger } from '../gateway-logger.js';
import type { FailedAttempts } from '../overload/failed-attempts.js';
import type { Lobby } from '../overload/lobby.js';
import { refuseUpgrade } from '../refuse-upgrade.js';
import type { UpgradeRefusal } from '../refuse-upgrade.js';
import { peerOf } from '../sessions/session-host.js';
import type { Peer, SessionHost } from '../sessions/session-host.js';
import { meterTraffic } from './websocket-traffic.js';
import { closePolitely, WebSocketTransport } from './websocket-transport.js';

export interface WebSocketIngressOptions {
  readonly auth: DeviceAuth;
  readonly host: SessionHost;
  readonly lobby: Lobby;
  readonly attempts: FailedAttempts;
  readonly clock: Clock;
  readonly limits: GatewayLimits;
  readonly counters: GatewayCounters;
  readonly logger: GatewayLogger;
}

/** A handshake whose headers were understood. */
interface Handshake {
  readonly deviceId: DeviceId;
  readonly credentials: WebSocketCredentials;
  readonly peer: Peer;
  readonly host: string | undefined;
}

export class WebSocketIngress {
  readonly #server: WebSocketServer;
  readonly #transports = new Set<WebSocketTransport>();
  #cancelRound: () => void = () => undefined;

  constructor(private readonly options: WebSocketIngressOptions) {
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: true,
      perMessageDeflate: false,
      maxPayload: options.limits.messageBytesMax,
      // Forks send invalid UTF-8; a bad text must not close the connection. [xiaozhi §9, 44]
      skipUTF8Validation: true,
    });
  }

  start(): void {
    this.#cancelRound = this.options.clock.setTimer(this.options.limits.pingIntervalMs, () => {
      for (const transport of this.#transports) if (!transport.checkPulse()) this.options.counters.add('peer', 'silent');
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
    const { attempts, auth, host, lobby } = this.options;
    const { remoteAddress } = peerOf(request.socket);
    const handshake = readHandshake(request);
    if ('message' in handshake) {
      attempts.failed(remoteAddress);
      this.#refuse(socket, 'handshake_invalid', { status: 400, code: 'HANDSHAKE_INVALID', message: handshake.message });
      return;
    }
    if (!attempts.mayTry(remoteAddress, loginOf(handshake))) {
      const message = 'too many failed attempts from this address, try again later';
      this.#refuse(socket, 'address_limited', { status: 429, code: 'OVERLOADED', message });
      return;
    }
    const leaveLobby = host.isFull ? undefined : lobby.enter(remoteAddress);
    if (leaveLobby === undefined) {
      this.#refuse(socket, 'hub_full', { status: 503, code: 'OVERLOADED', message: 'no room for another session, try again later' });
      return;
    }
    socket.once('close', leaveLobby);
    socket.on('error', () => socket.destroy());
    const { credentials } = handshake;
    const ask = () => auth.checkWebSocket(credentials);
    askAuth({ ask, subject: { deviceId: credentials.deviceId } }, this.options, (verdict) => {
      if (socket.destroyed) return;
      if (verdict.kind === 'granted') {
        if (this.#isWelcome(socket, handshake))
          this.#server.handleUpgrade(request, socket, head, (ws) => this.#awaitHello(ws, handshake, leaveLobby));
      } else if (verdict.kind === 'undecided') {
        this.#refuse(socket, 'auth_unavailable', { status: 503, code: 'OVERLOADED', message: 'credentials could not be checked' });
      } else {
        attempts.failed(remoteAddress);
        this.#refuse(socket, verdict.reason, { status: 401, code: 'UNAUTHORIZED', message: verdict.message });
      }
    });
  };

  #isWelcome(socket: Duplex, handshake: Handshake): boolean {
    const { attempts, host } = this.options;
    attempts.succeeded(handshake.peer.remoteAddress, loginOf(handshake));
    const entry = host.welcome(handshake.deviceId, 'WEBSOCKET');
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

  #awaitHello(socket: WebSocket, handshake: Handshake, leaveLobby: () => void): void {
    const { clock, counters, limits } = this.options;
    const cancelDeadline = clock.setTimer(limits.introductionTimeoutMs, () => {
      socket.off('message', hear);
      counters.add('refusal', 'hello_missing');
      end('protocol_error');
    });
    let end = (reason: CloseReason) => closePolitely(socket, { clock, closingTimeoutMs: limits.closingTimeoutMs, reason });
    const hear = (data: RawData, isBinary: boolean) => {
      const hello = isBinary ? undefined : helloOf(data.toString());
      if (hello === undefined) return;
      cancelDeadline();
      socket.off('message', hear);
      leaveLobby();
      const transport = this.#introduce(socket, handshake, hello);
      end = (reason) => transport.close(reason);
    };
    meterTraffic(socket, {
      ...{ clock, counters, limits },
      cut: () => end('traffic_exceeded'),
      tell: (news) => this.options.host.report(handshake.deviceId, 'device.throttled', { transport: 'WEBSOCKET', ...news }),
    });
    socket.on('message', hear);
    socket.on('error', () => undefined);
    socket.once('close', cancelDeadline);
  }

  #introduce(socket: WebSocket, { credentials: { clientId }, deviceId, host, peer }: Handshake, hello: JsonObject): WebSocketTransport {
    const { clock, limits } = this.options;
    const transport = new WebSocketTransport(socket, { ...limits, clock });
    this.#transports.add(transport);
    socket.once('close', () => this.#transports.delete(transport));
    this.options.host.admit({ deviceId, kind: 'WEBSOCKET', transport, audio: transport, hello, clientId, host, ...peer });
    return transport;
  }
}

function loginOf({ credentials: { deviceId, clientId } }: Handshake): string {
  return `${deviceId} ${clientId}`;
}

function helloOf(text: string): JsonObject | undefined {
  const envelope = parseDeviceEnvelope(text);
  return envelope.kind === 'hello' && parseDeviceHello(envelope.message).ok ? envelope.message : undefined;
}

/** Ids come in headers, or in the query string where a proxy or a browser cannot set them. [xiaozhi §8, 4] */
function readHandshake(request: IncomingMessage): Handshake | { readonly message: string } {
  const query = new URLSearchParams(request.url?.split('?', 2)[1]);
  const given = (name: string) => {
    const header = request.headers[name];
    return typeof header === 'string' ? header : (query.get(name) ?? undefined);
  };
  const deviceIdText = given('device-id');
  const identity = parseDeviceIdHeader(deviceIdText);
  if (!identity.ok) return { message: identity.problem };
  const clientId = given('client-id') ?? '';
  if (clientId === '' || clientId.length > clientIdMax)
    return { message: `the Client-Id header is missing or longer than ${clientIdMax} characters` };
  const version = given('protocol-version') ?? '1';
  if (!/^[123]$/.test(version)) return { message: 'the Protocol-Version header must be 1, 2 or 3' };
  const peer = peerOf(request.socket);
  const token = request.headers.authorization?.replace(/^Bearer\s+/i, '');
  return {
    deviceId: identity.deviceId,
    peer,
    host: request.headers.host,
    credentials: { clientId, deviceId: deviceIdText ?? '', token, remoteAddress: peer.remoteAddress },
  };
}
