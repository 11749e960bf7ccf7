/** A gateway with listeners for specs. It collects what is published on the feed. */
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { FeedEvent, RoutedCall } from '@flotilla/bus';
import type { CallId, DeviceId } from '@flotilla/mcp';
import type { SettledCall } from '@flotilla/session';
import type { IConnectPacket } from 'mqtt-packet';
import { vi } from 'vitest';
import { WebSocket } from 'ws';
import { OpenAuth } from './auth/device-auth.js';
import { realClock, silentLogger } from './ingress.suite.js';
import { answerAsFirmware } from './firmware.suite.js';
import type { FirmwareOptions } from './firmware.suite.js';
import { Gateway } from './gateway.js';
import type { GatewayOptions } from './gateway-options.js';
import { MqttDevice } from './mqtt/mqtt-device.suite.js';

export const lampId = '02:5e:7a:10:c4:9f' as DeviceId;

type StageOptions = Pick<GatewayOptions, 'gatewayId' | 'registry' | 'bus'> & Partial<GatewayOptions>;

export class GatewayStage {
  readonly events: FeedEvent[] = [];
  readonly presences: (string | undefined)[] = [];

  private constructor(
    readonly gateway: Gateway,
    private readonly bus: GatewayOptions['bus'],
    private readonly servers: {
      readonly mqtt: ReturnType<typeof createServer>;
      readonly http: ReturnType<typeof createHttpServer>;
    },
  ) {}

  static async set(options: StageOptions): Promise<GatewayStage> {
    const gateway = new Gateway({
      clock: realClock,
      auth: new OpenAuth(),
      logger: silentLogger,
      udp: { host: '127.0.0.1', port: 0 },
      // Specs connect one lamp again and again, faster than any device.
      limits: { retryDelayMs: 10, closingTimeoutMs: 50, reconnectsMax: 0 },
      ...options,
    });
    await gateway.start();
    const mqtt = createServer((socket) => gateway.acceptMqtt(socket)).listen(0, '127.0.0.1');
    const http = createHttpServer().listen(0, '127.0.0.1');
    http.on('upgrade', (request, socket, head) =>
      gateway.upgrades.get((request.url ?? '').split('?')[0] ?? '')?.(request, socket, head),
    );
    await Promise.all([once(mqtt, 'listening'), once(http, 'listening')]);
    const stage = new GatewayStage(gateway, options.bus, { mqtt, http });
    stage.#endings = [
      options.bus.feed.subscribe('event', (event) => stage.events.push(event)),
      options.bus.feed.subscribe('device', ({ presence }) => stage.presences.push(presence)),
    ];
    return stage;
  }

  #endings: readonly (() => void)[] = [];

  get #httpPort(): number {
    return (this.servers.http.address() as AddressInfo).port;
  }

  /** Connects a lamp that has sent CONNECT. */
  async connectLamp(
    options: FirmwareOptions & {
      readonly clientId?: string;
      readonly keepalive?: number;
      readonly will?: IConnectPacket['will'];
    } = {},
  ): Promise<MqttDevice> {
    const device = await MqttDevice.dial((this.servers.mqtt.address() as AddressInfo).port);
    device.answer = (text) => answerAsFirmware(text, options);
    const clientId = options.clientId ?? 'GID_lab@@@02_5e_7a_10_c4_9f@@@one';
    const { keepalive, will } = options;
    device.connect({ clientId, ...(will && { will }), ...(keepalive !== undefined && { keepalive }) });
    return device;
  }

  /** Connects the lamp over WebSocket and sends its hello. */
  async connectTalkingLamp({
    beforeHello = () => undefined,
  }: { beforeHello?: () => unknown } = {}): Promise<WebSocket> {
    const headers = { 'Device-Id': lampId, 'Client-Id': 'talking-lamp' };
    const socket = new WebSocket(`ws://127.0.0.1:${this.#httpPort}/xiaozhi/v1/`, { headers });
    socket.on('message', (data) => {
      const reply = answerAsFirmware((data as Buffer).toString());
      if (reply !== undefined) socket.send(reply);
    });
    await once(socket, 'open');
    await beforeHello();
    socket.send(JSON.stringify({ type: 'hello', version: 1, features: { mcp: true }, transport: 'websocket' }));
    return socket;
  }

  /** Waits for an entry of the lamp in the directory, with a newer epoch. */
  async entry(newerThan = 0) {
    return vi.waitFor(async () => {
      const found = await this.bus.directory.lookup(lampId);
      if (found === undefined || found.epoch <= newerThan) throw new Error('not in the directory yet');
      return found;
    });
  }

  newCall(): RoutedCall['call'] {
    return {
      callId: '01932f3e-0000-7000-8000-000000000001' as CallId,
      tool: 'self.lamp.turn_on',
      arguments: {},
      queueDeadlineAt: Date.now() + 2000,
      callTimeoutMs: 2000,
    };
  }

  call(change: Partial<RoutedCall> = {}): Promise<SettledCall> {
    return new Promise((resolve) => {
      const rights = { mayCallUserOnly: true, mayChangeFirmware: true };
      this.gateway.callServer.enqueue({ deviceId: lampId, rights, call: this.newCall(), ...change }, resolve);
    });
  }

  /** Waits for the nth event of a type. */
  async event(type: string, number = 1): Promise<FeedEvent> {
    return vi.waitFor(() => {
      const found = this.events.filter((one) => one.type === type)[number - 1];
      if (found === undefined) throw new Error(`no ${type} yet`);
      return found;
    });
  }

  async close(): Promise<void> {
    await this.gateway.stop();
    for (const end of this.#endings) end();
    this.servers.mqtt.close();
    this.servers.http.close();
  }
}
