/**
 * The ingress of xiaozhi devices over WebSocket. After the upgrade the device sends its hello. It
 * holds all replies back until the hub has answered that. [xiaozhi §1.2, §1.3]
 */
import type { IncomingMessage } from 'node:http';
import type { RawData, WebSocket } from 'ws';
import { clientIdMax, parseDeviceEnvelope, parseDeviceHello, parseDeviceIdHeader } from '@flotilla/mcp';
import type { CloseReason, JsonObject } from '@flotilla/mcp';
import type { DeviceAuth } from '../auth/device-auth.js';
import { peerOfRequest } from '../sessions/session-host.js';
import { headerOrQuery, tokenOf, WebSocketIngress } from './websocket-ingress.js';
import type { Handshake, Unreadable, WebSocketIngressOptions } from './websocket-ingress.js';
import { closePolitely } from './websocket-transport.js';
import type { WebSocketTransport } from './websocket-transport.js';

export interface XiaozhiWebSocketIngressOptions extends WebSocketIngressOptions {
  readonly auth: Pick<DeviceAuth, 'checkWebSocket'>;
}

export class XiaozhiWebSocketIngress extends WebSocketIngress<XiaozhiWebSocketIngressOptions> {
  /** Reads ids from headers, or from the query string. */
  protected override read(request: IncomingMessage): Handshake | Unreadable {
    const given = headerOrQuery(request);
    const deviceIdText = given('device-id');
    const identity = parseDeviceIdHeader(deviceIdText);
    if (!identity.ok) return { message: identity.problem };
    const clientId = given('client-id') ?? '';
    if (clientId === '' || clientId.length > clientIdMax)
      return { message: `the Client-Id header is missing or longer than ${clientIdMax} characters` };
    const version = given('protocol-version') ?? '1';
    if (!/^[123]$/.test(version)) return { message: 'the Protocol-Version header must be 1, 2 or 3' };
    const peer = peerOfRequest(request, this.options.addressOf);
    const deviceId = deviceIdText ?? '';
    const credentials = { clientId, deviceId, token: tokenOf(request), remoteAddress: peer.remoteAddress };
    return {
      deviceId: identity.deviceId,
      clientId,
      peer,
      host: request.headers.host,
      login: `${deviceId} ${clientId}`,
      expulsions: this.options.host.expulsions,
      ask: () => this.options.auth.checkWebSocket(credentials),
    };
  }

  /** Waits for the hello, with a timeout, and ignores other messages. */
  protected override receive(socket: WebSocket, handshake: Handshake, leaveLobby: () => void): void {
    const { clock, counters, limits } = this.options;
    const cancelDeadline = clock.setTimer(limits.introductionTimeoutMs, () => {
      socket.off('message', hear);
      counters.add('refusal', 'hello_missing');
      end('protocol_error');
    });
    let end = (reason: CloseReason) =>
      closePolitely(socket, { clock, closingTimeoutMs: limits.closingTimeoutMs, reason });
    const hear = (data: RawData, isBinary: boolean) => {
      const hello = isBinary ? undefined : helloOf(data.toString());
      if (hello === undefined) return;
      cancelDeadline();
      socket.off('message', hear);
      leaveLobby();
      const transport = this.#introduce(socket, handshake, hello);
      end = (reason) => transport.close(reason);
    };
    this.meter(socket, handshake, (reason) => end(reason));
    socket.on('message', hear);
    socket.on('error', () => undefined);
    socket.once('close', cancelDeadline);
  }

  #introduce(socket: WebSocket, handshake: Handshake, hello: JsonObject): WebSocketTransport {
    const { clientId, deviceId, expulsions, host, peer } = handshake;
    const transport = this.open(socket);
    this.options.host.admit({
      deviceId,
      kind: 'WEBSOCKET',
      dialect: 'XIAOZHI',
      transport,
      audio: transport,
      hello,
      clientId,
      host,
      expulsions,
      ...peer,
    });
    return transport;
  }
}

function helloOf(text: string): JsonObject | undefined {
  const envelope = parseDeviceEnvelope(text);
  return envelope.kind === 'hello' && parseDeviceHello(envelope.message).ok ? envelope.message : undefined;
}
