/** MQTT inside a WebSocket: checks the subprotocol and passes the stream to the MQTT ingress. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { createWebSocketStream, WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import type { GatewayCounters } from '../gateway-counters.js';
import type { GatewayLimits } from '../gateway-limits.js';
import { TokenBucket } from '../overload/token-bucket.js';
import { refuseUpgrade } from '../refuse-upgrade.js';
import { peerOfRequest } from '../sessions/session-host.js';
import type { ClientAddress, Peer } from '../sessions/session-host.js';

/** Names of MQTT 3.1.1 and of 3.1. [MQTT-6.0.0-3] */
const subprotocols = ['mqtt', 'mqttv3.1'];

interface MqttUpgradeOptions {
  readonly limits: GatewayLimits;
  readonly clock: { now(): number };
  readonly counters: GatewayCounters;
  readonly addressOf: ClientAddress;
  readonly accept: (stream: Duplex, peer: Peer) => void;
}

export class MqttUpgrade {
  readonly #server: WebSocketServer;

  constructor(private readonly options: MqttUpgradeOptions) {
    this.#server = new WebSocketServer({
      noServer: true,
      perMessageDeflate: false,
      // A frame is a piece of the stream; packets may begin and end anywhere in it.
      maxPayload: options.limits.messageBytesMax,
      maxFragments: options.limits.messageFragmentsMax,
      handleProtocols: (offered) => subprotocols.find((name) => offered.has(name)) ?? false,
    });
  }

  /** Takes over an upgrade request with its socket. */
  readonly upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const offered = request.headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()) ?? [];
    if (!offered.some((name) => subprotocols.includes(name))) {
      refuseUpgrade(socket, {
        status: 400,
        code: 'HANDSHAKE_INVALID',
        message: 'the subprotocol must be mqtt or mqttv3.1',
      });
      return;
    }
    request.socket.setKeepAlive(true, this.options.limits.pingIntervalMs);
    const peer = peerOfRequest(request, this.options.addressOf);
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      this.#limitBeats(webSocket);
      this.options.accept(createWebSocketStream(webSocket), peer);
    });
  };

  /** Pings, pongs and empty messages are not in the stream of MQTT, whose packets are counted. */
  #limitBeats(webSocket: WebSocket): void {
    const { clock, counters, limits } = this.options;
    const rate = { burst: limits.messagesBurst, perSecond: limits.messagesPerSecondMax };
    const beats = new TokenBucket(rate, clock.now());
    const count = () => {
      if (beats.takeOne(rate, clock.now()) || webSocket.readyState !== webSocket.OPEN) return;
      counters.add('traffic', 'cut');
      webSocket.terminate();
    };
    webSocket.on('ping', count);
    webSocket.on('pong', count);
    webSocket.on('message', (data: Buffer) => {
      if (data.length === 0) count();
    });
  }

  stop(): void {
    for (const socket of this.#server.clients) socket.terminate();
  }
}
