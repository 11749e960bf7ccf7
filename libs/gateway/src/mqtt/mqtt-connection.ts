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
import { FramedLineTransport } from '../mcpu/framed-line-transport.js';
import { topicsOf } from './device-topics.js';
import type { DeviceIdentity, DeviceTopics } from './device-topics.js';
import { MqttTransport } from './mqtt-transport.js';
import { PacketGuard } from './packet-guard.js';
import { PlainMessages } from './plain-messages.js';
import type { Arrival, LastWill, Peer } from '../sessions/session-host.js';

export interface MqttConnectionOptions {
  readonly peer: Peer;
  readonly leaveLobby: () => void;
  /** The topic that all xiaozhi devices publish to. */
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
  /** The hub refused it for reasons of its own. */
  isTurnedAway = false;
  transport: MqttTransport | undefined;
  readonly peer: Peer;
  #identity: DeviceIdentity | undefined;
  #topics: DeviceTopics | undefined;
  #messages: PlainMessages | undefined;
  #isConnected = false;
  #isSubscribed = false;
  #cancelSubscription: () => void = () => undefined;
  readonly #conn: Duplex;
  readonly #guard: PacketGuard;
  #fault: CloseReason = 'connection_lost';
  #will: LastWill | undefined;
  readonly #traffic: TrafficControl;
  #packetsCounted = 0;
  /** How long messages may pass the broker by, ms: only what it reads itself counts for its keep-alive, and a device may be silent for the whole of that. [MQTT-3.1.2-24] */
  #passingMs = Infinity;
  /** When the broker last had something to read. */
  #brokerReadAt = -Infinity;
  /** It has found nothing more to read, so it is done with all that it read. */
  #isBrokerIdle = false;
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
    const read = this.#conn.read.bind(this.#conn) as (size?: number) => Buffer | null;
    this.#conn.read = (size) => this.#readForBroker(read, size);
    const push = this.#conn.push.bind(this.#conn);
    this.#conn.push = (chunk: Buffer | null, encoding) =>
      (chunk !== null && this.#passesBroker(chunk)) || push(chunk, encoding);
    this.#conn.once('close', () => this.#ended());
  }

  get deviceId(): DeviceId | undefined {
    return this.#identity?.deviceId;
  }

  /** The topic that it may subscribe to. */
  get topic(): string | undefined {
    return this.#topics?.toDevice;
  }

  /** The credentials were found right. */
  identify(identity: DeviceIdentity): void {
    this.#identity = identity;
    this.#topics = topicsOf(identity, this.options.publishTopic);
    this.#messages = new PlainMessages(this.#topics.fromDevice);
  }

  /** What CONNECT says, before anything of it is proven. */
  claim({ clientId, keepalive, will }: Pick<ConnectPacket, 'clientId' | 'keepalive' | 'will'>): void {
    this.claimedId = clientId;
    // A quarter of it and then the whole are still less than the one and a half after which the broker cuts.
    if (keepalive !== undefined && keepalive > 0) this.#passingMs = keepalive * 250;
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
    if (this.#topics?.fromDevice.includes(topic) === true) {
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

  /** The broker accepted the device. Undefined where the connection was not one that we let in. CONNACK waits for the greeting from here on: see `letGo`. */
  prove(): DeviceId | undefined {
    if (this.deviceId === undefined) return undefined;
    this.options.leaveLobby();
    this.#guard.accept();
    this.#conn.cork();
    return this.deviceId;
  }

  /** CONNACK leaves, in one write with the greeting where the device was greeted at once: in a fleet that comes back each write is some 20 µs, here and there. */
  letGo(): void {
    this.#conn.uncork();
  }

  /**
   * CONNACK was sent: from now on there is a path. A microcontroller's library drops what it has not subscribed to, so such a board begins with its subscription; `onMissing`
   * is told when that does not come in time.
   */
  connected(onMissing: () => void): void {
    this.#isConnected = true;
    if (this.#isReady) return;
    this.#cancelSubscription = this.options.clock.setTimer(this.options.limits.introductionTimeoutMs, () => {
      this.options.counters.add('refusal', 'subscription_missing');
      onMissing();
    });
  }

  /** SUBACK granted it its own topic. */
  subscribed(): void {
    this.#isSubscribed = true;
    if (this.#isConnected) this.#cancelSubscription();
  }

  /** Hands the path over, once. Undefined where it has ended meanwhile, or its device cannot hear yet. */
  arrive(isLate = false): Arrival | undefined {
    const identity = this.#identity;
    if (identity === undefined || this.topic === undefined || this.transport !== undefined || this.#conn.destroyed)
      return undefined;
    if (!isLate && !this.#isReady) return undefined;
    const { counters, limits } = this.options;
    this.transport = new MqttTransport(this.#conn, {
      topic: this.topic,
      unsentBytesMax: limits.unsentBytesMax,
      hangUp: () => this.client.close(),
    });
    const isMcpu = identity.dialect === 'MCPU';
    const transport = isMcpu
      ? new FramedLineTransport(this.transport, () => counters.add('anomaly', 'line_overlong'))
      : this.transport;
    const claimed = parseMqttClientId(this.claimedId ?? '');
    const clientId = claimed.ok ? claimed.uuid : undefined;
    return { ...identity, clientId, kind: 'MQTT', transport, ...(this.#will && { will: this.#will }), ...this.peer };
  }

  get #isReady(): boolean {
    return this.#isConnected && (this.#isSubscribed || this.#identity?.dialect !== 'MCPU');
  }

  /** The broker gave the connection up: its end follows. */
  fail(error: Error): void {
    if (this.claimedId === undefined && error.message === 'connect did not arrive in time')
      this.options.counters.add('refusal', 'connect_missing');
    if (this.#fault === 'connection_lost' && !isLoss(error)) this.#fault = 'protocol_error';
    this.transport?.fail(error);
  }

  #readForBroker(read: (size?: number) => Buffer | null, size?: number): Buffer | null {
    const chunk = read(size);
    this.#isBrokerIdle = chunk === null;
    if (chunk !== null) this.#brokerReadAt = this.options.clock.now();
    return chunk;
  }

  /**
   * Messages that need the broker for nothing go straight to the session, which is where it would bring them, before the stream has even seen them: that spares a call some
   * 10 µs. False for all that is the broker's. Where it is not done with what came before, nothing overtakes.
   */
  #passesBroker(chunk: Buffer): boolean {
    const { transport } = this;
    if (
      transport === undefined ||
      !this.#isBrokerIdle ||
      this.#conn.readableLength > 0 ||
      !this.#guard.isBetweenPackets
    )
      return false;
    if (
      this.client.closed ||
      this.#traffic.isHolding ||
      this.options.clock.now() - this.#brokerReadAt >= this.#passingMs
    )
      return false;
    const payloads = this.#messages?.payloadsOf(chunk);
    if (payloads === undefined) return false;
    this.#inspect(chunk);
    // Whoever was cut for it is not heard any more.
    if (!this.client.closed) for (const payload of payloads) transport.receive(payload);
    return true;
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
    this.#cancelSubscription();
    this.#traffic.end();
    this.#held = [];
    if (this.deviceId === undefined && !this.isTurnedAway) this.options.onStranger();
    this.transport?.ended(
      this.#guard.sawDisconnect && this.#fault === 'connection_lost' ? 'device_closed' : this.#fault,
    );
  }
}

/** The network's fault or silence, not a broken rule. */
function isLoss(error: Error): boolean {
  return 'code' in error || error.message === 'keep alive timeout' || error.message === 'drain timeout';
}
