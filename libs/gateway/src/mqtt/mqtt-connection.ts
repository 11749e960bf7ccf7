/** One MQTT connection from its first byte: the guard on its stream, what it claimed and proved, and why it ended. */
import type { Duplex } from 'node:stream';
import type { Client, ConnectPacket } from 'aedes';
import type { CloseReason, DeviceId } from '@flotilla/mcp';
import type { GatewayCounters } from '../gateway-counters.js';
import type { GatewayLimits } from '../gateway-limits.js';
import { MqttTransport } from './mqtt-transport.js';
import { PacketGuard } from './packet-guard.js';
import type { Arrival, LastWill, Peer } from '../sessions/session-host.js';

export interface MqttConnectionOptions {
  readonly peer: Peer;
  readonly leaveLobby: () => void;
  /** The topic that all devices publish to. */
  readonly publishTopic: string;
  readonly limits: GatewayLimits;
  readonly counters: GatewayCounters;
}

export class MqttConnection {
  /** The client id as CONNECT gave it; Aedes invents one where it is empty. */
  claimedId: string | undefined;
  /** Set once the credentials were found right. */
  deviceId: DeviceId | undefined;
  transport: MqttTransport | undefined;
  readonly peer: Peer;
  readonly #conn: Duplex;
  readonly #guard: PacketGuard;
  #fault: CloseReason = 'connection_lost';
  #will: LastWill | undefined;
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

  /** A message of the device. On a topic that is not its to publish on it goes nowhere; a positive acknowledgement is due all the same. [MQTT-3.3.5-2] */
  hear(topic: string, payload: Uint8Array): void {
    if (topic === this.options.publishTopic || topic === this.topic) {
      this.transport?.receive(payload);
      return;
    }
    const { counters, limits } = this.options;
    counters.add('anomaly', 'topic_forbidden');
    this.#forbiddenTopics += 1;
    if (this.#forbiddenTopics < limits.forbiddenTopicsMax || this.client.closed) return;
    counters.add('anomaly', 'topic_abuse');
    this.#fault = 'protocol_error';
    this.client.close();
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
    return { deviceId, kind: 'MQTT', transport: this.transport, ...(this.#will && { will: this.#will }), ...this.peer };
  }

  /** The broker gave the connection up: its end follows. */
  fail(error: Error): void {
    if (this.#fault === 'connection_lost' && !isLoss(error)) this.#fault = 'protocol_error';
    this.transport?.fail(error);
  }

  #inspect(chunk: Uint8Array): void {
    const cut = this.#guard.inspect(chunk);
    if (cut === undefined || this.client.closed) return;
    this.options.counters.add('guard_cut', cut);
    this.#fault = 'protocol_error';
    // The broker still gets this chunk, but a closed client's packets go nowhere.
    this.client.close();
  }

  #ended(): void {
    this.options.leaveLobby();
    this.transport?.ended(this.#guard.sawDisconnect && this.#fault === 'connection_lost' ? 'device_closed' : this.#fault);
  }
}

/** The network's fault or silence, not a broken rule. */
function isLoss(error: Error): boolean {
  return 'code' in error || error.message === 'keep alive timeout' || error.message === 'drain timeout';
}
