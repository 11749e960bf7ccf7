/**
 * The WebSocket ingress of microcontrollers, and of gateways in front of them: one connection per
 * device, identified by its token. The hub sends first, as always with such boards. [mcpu §6.2]
 */
import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import { parseMicrocontrollerId } from '@flotilla/mcp';
import type { DeviceAuth } from '../auth/device-auth.js';
import { peerOfRequest } from '../sessions/session-host.js';
import { headerOrQuery, tokenOf, WebSocketIngress } from '../websocket/websocket-ingress.js';
import type { Handshake, Unreadable, WebSocketIngressOptions } from '../websocket/websocket-ingress.js';
import { FramedLineTransport } from './framed-line-transport.js';

interface McpuWebSocketIngressOptions extends WebSocketIngressOptions {
  readonly auth: Pick<DeviceAuth, 'checkToken'>;
}

export class McpuWebSocketIngress extends WebSocketIngress<McpuWebSocketIngressOptions> {
  constructor(options: McpuWebSocketIngressOptions) {
    super(options, 'mcpu.v1');
  }

  protected override read(request: IncomingMessage): Handshake | Unreadable {
    const identity = parseMicrocontrollerId(headerOrQuery(request)('device-id'));
    if (!identity.ok) return { message: `Device-Id: ${identity.problem}` };
    const { deviceId } = identity;
    const peer = peerOfRequest(request, this.options.addressOf);
    const credentials = { deviceId, token: tokenOf(request), remoteAddress: peer.remoteAddress };
    return {
      deviceId,
      peer,
      host: request.headers.host,
      login: deviceId,
      expulsions: this.options.host.expulsions,
      ask: () => this.options.auth.checkToken(credentials),
    };
  }

  protected override receive(socket: WebSocket, handshake: Handshake, leaveLobby: () => void): void {
    const { counters, host: sessions } = this.options;
    const { deviceId, expulsions, host, peer } = handshake;
    leaveLobby();
    const transport = new FramedLineTransport(this.open(socket, 'latin1'), {
      onOverlong: () => counters.add('anomaly', 'line_overlong'),
      onFurtherLines: (lines) => traffic.count(lines, 0),
    });
    const traffic = this.meter(socket, handshake, (reason) => transport.close(reason));
    sessions.admit({ deviceId, kind: 'WEBSOCKET', dialect: 'MCPU', transport, host, expulsions, ...peer });
  }
}
