/** One MQTT connection from its first byte: the guard on its stream, what it claimed and proved, and why it ended. */
import type { Duplex } from 'node:stream';
import type { Client, ConnectPacket } from 'aedes';
import { parseMqttClientId } from '@flotilla/mcp';
import type { CloseReason, DeviceId } from '@flotilla/mcp';
import type { GatewayCounters } from '../gateway-counters.js';
import type { GatewayLimits } from '../gateway-limits.js';
import type { Clock } from '@flotilla/session';
import { TrafficControl } from '../overload/traffic-control.js';
import type { TrafficNews } from '../overload/traffic-control.js';
import { MqttTransport } from './mqtt-transport.js';
import { PacketGuard } from './packet-guard.js';
import type { Arrival, LastWill, Peer } from '../sessions/session-host.js';

export interface MqttConnectionOptions {
  readonly peer: Peer;
  readonly leaveLobby: () => void;
  /** The topic that all devices publish to. */
  readonly publishTopic: string;
  readonly clock: Clock;
  readonly limits: GatewayLimits;
  readonly counters: GatewayCounters;
  /** The connection ended before it had proved anything, and that was not the hub's doing. */
  readonly onStranger: () => void;
  /** The device sends faster than it may. */
  readonly onThrottled: (deviceId: DeviceId, news: TrafficNews) => void;
}

export class MqttConnection {
  /** The client id as CONNECT gave it; Aedes invents one where it is empty. */
  claimedId: string | undefined;
  /** Set once the credentials were found right. */
  deviceId: DeviceId | undefined;
  /** The hub refused it for reasons of its own. */
  isTurnedAway = false;
  transport: MqttTransport | undefined;
  readonly peer: Peer;
  readonly #conn: Duplex;
  readonly #guard: PacketGuard;
  #fault: CloseReason = 'connection_lost';
  #will: LastWill | undefined;
  readonly #traffic: TrafficControl;
  #packetsCounted = 0;
  /** What lets the broker read on, while the device sends too fast. */
  #held: (() => void)[] = [];
  #forbiddenTopics = 0;

  /**
   * The broker reads the stream by `readable` and `read()`, and a stream that has a `data` listener as well tells it each chunk just before `read`
   * returns it. So the guard sees every byte before the broker's parser does, without a stream in between.
   */
  constructor(
    private readonly client: Client,
    private readonly options: MqttConnectionOptions,
  ) {
    this.peer = options.peer;
    this.#guard = new PacketGuard(options.limits);
    this.#conn = client.conn;
    const { clock, counters, limits, onThrottled } = options;
    this.#traffic = new TrafficControl({
      ...{ clock, counters, limits },
      // The broker reads no further until it has heard that each message of the last chunk is done with.
      hold: () => undefined,
      release: () => this.#readOn(),
      cut: () => this.#cut('traffic_exceeded'),
      tell: (news) => this.deviceId !== undefined && onThrottled(this.deviceId, news),
    });
    this.#conn.on('data', (chunk: Uint8Array) => this.#inspect(chunk));
    this.#conn.once('close', () => this.#ended());
  }

  get topic(): string | undefined {
    return this.deviceId === undefined ? undefined : `devices/p2p/${this.deviceId.replaceAll(':', '_')}`;
  }

  /** What CONNECT says, before anything of it is proven. */
  claim({ clientId, will }: Pick<ConnectPacket, 'clientId' | 'will'>): void {
    this.claimedId = clientId;
    this.#will = will && { topic: will.topic, payload: Buffer.from(will.payload).toString('utf8') };
  }

  /** A message of the device. */
  hear({ topic, payload }: { readonly topic: string; readonly payload: Uint8Array }, readOn: () => void): void {
    this.#deliver(topic, payload);
    if (this.#traffic.isHolding) this.#held.push(readOn);
    else readOn();
  }

  /** On a topic that is not its to publish on a message goes nowhere; a positive acknowledgement is due all the same. [MQTT-3.3.5-2] */
  #deliver(topic: string, payload: Uint8Array): void {
    if (topic === this.options.publishTopic || topic === this.topic) {
      this.transport?.receive(payload);
      return;
    }
    const { counters, limits } = this.options;
    counters.add('anomaly', 'topic_forbidden');
    this.#forbiddenTopics += 1;
    if (this.#forbiddenTopics < limits.forbiddenTopicsMax || this.client.closed) return;
    counters.add('anomaly', 'topic_abuse');
    this.#cut('protocol_error');
  }

  /** The broker accepted the device. Undefined where the connection was not one that we let in. */
  prove(): DeviceId | undefined {
    if (this.deviceId === undefined) return undefined;
    this.options.leaveLobby();
    this.#guard.accept();
    return this.deviceId;
  }

  /** CONNACK was sent: from now on there is a path. Undefined where it has ended meanwhile. */
  arrive(): Arrival | undefined {
    const { deviceId, topic } = this;
    if (deviceId === undefined || topic === undefined || this.#conn.destroyed) return undefined;
    this.transport = new MqttTransport(this.#conn, {
      topic,
      unsentBytesMax: this.options.limits.unsentBytesMax,
      hangUp: () => this.client.close(),
    });
    const identity = parseMqttClientId(this.claimedId ?? '');
    const clientId = identity.ok ? identity.uuid : undefined;
    return { deviceId, clientId, kind: 'MQTT', transport: this.transport, ...(this.#will && { will: this.#will }), ...this.peer };
  }

  /** The broker gave the connection up: its end follows. */
  fail(error: Error): void {
    if (this.claimedId === undefined && error.message === 'connect did not arrive in time')
      this.options.counters.add('refusal', 'connect_missing');
    if (this.#fault === 'connection_lost' && !isLoss(error)) this.#fault = 'protocol_error';
    this.transport?.fail(error);
  }

  #inspect(chunk: Uint8Array): void {
    const cut = this.#guard.inspect(chunk);
    if (this.client.closed) return;
    this.#traffic.count(this.#guard.packets - this.#packetsCounted, chunk.length);
    this.#packetsCounted = this.#guard.packets;
    if (cut === undefined || this.client.closed) return;
    this.options.counters.add('guard_cut', cut);
    this.#cut('protocol_error');
  }

  /** The broker still gets the chunk at hand, but a closed client's packets go nowhere. */
  #cut(reason: CloseReason): void {
    this.#fault = reason;
    this.client.close();
  }

  #readOn(): void {
    const held = this.#held;
    this.#held = [];
    for (const readOn of held) readOn();
  }

  #ended(): void {
    this.options.leaveLobby();
    this.#traffic.end();
    this.#held = [];
    if (this.deviceId === undefined && !this.isTurnedAway) this.options.onStranger();
    this.transport?.ended(this.#guard.sawDisconnect && this.#fault === 'connection_lost' ? 'device_closed' : this.#fault);
  }
}

/** The network's fault or silence, not a broken rule. */
function isLoss(error: Error): boolean {
  return 'code' in error || error.message === 'keep alive timeout' || error.message === 'drain timeout';
}
