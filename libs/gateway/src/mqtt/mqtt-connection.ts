/** One MQTT connection: its packets, what CONNECT claims and credentials prove, and why it ends. */
import type { Duplex } from 'node:stream';
import type { Client, ConnectPacket } from 'aedes';
import { parseMqttClientId } from '@flotilla/mcp';
import type { CloseReason, DeviceId } from '@flotilla/mcp';
import type { Clock } from '@flotilla/session';
import type { MqttCredentials } from '../auth/device-auth.js';
import type { GatewayCounters } from '../gateway-counters.js';
import type { GatewayLimits } from '../gateway-limits.js';
import { FramedLineTransport } from '../mcpu/framed-line-transport.js';
import { TrafficControl } from '../overload/traffic-control.js';
import type { ThrottleReport } from '../overload/traffic-control.js';
import type { DeviceConnection, LastWill, Peer } from '../sessions/session-host.js';
import { mqttTraits, topicsOf } from './device-topics.js';
import type { DeviceIdentity, DeviceTopics } from './device-topics.js';
import { KeepAlive } from './keep-alive.js';
import type { DeviceMessage } from './mqtt-broker.js';
import { MqttTransport } from './mqtt-transport.js';
import { CONNECT, DISCONNECT, PacketReader } from './packet-reader.js';
import type { MqttPacket } from './packet-reader.js';
import { PacketStream } from './packet-stream.js';
import { textOf, topicField } from './publish-packet.js';
import type { MessageEncoding } from './publish-packet.js';

type ClaimedCredentials = Pick<MqttCredentials, 'username' | 'password'>;

const noCredentials: ClaimedCredentials = { username: undefined, password: undefined };

type ConnectClaim = Pick<ConnectPacket, 'clientId' | 'keepalive' | 'will' | 'username' | 'password'>;

interface MqttConnectionOptions {
  readonly peer: Peer;
  /** Gives the stream of this connection to the broker. */
  readonly connect: (stream: Duplex) => Client;
  readonly leaveLobby: () => void;
  /** The topic that all xiaozhi devices publish to, and its `topicField`. */
  readonly publishTopic: string;
  readonly publishField: Buffer;
  readonly clock: Clock;
  readonly limits: GatewayLimits;
  readonly counters: GatewayCounters;
  /** The connection ended without valid credentials, and the hub did not refuse it. */
  readonly onStranger: () => void;
  /** The device sends faster than its limits allow. */
  readonly onThrottled: (deviceId: DeviceId, report: ThrottleReport) => void;
}

/** The device that the credentials proved, with `SessionHost.expulsions` before their check. */
export interface ProvenIdentity extends DeviceIdentity {
  readonly expulsions: number;
}

/**
 * In order: `claim` (CONNECT was read), `identify` (its credentials are correct), `accepted`,
 * `connected` (CONNACK was written), `admit` and `flush`. It may end at any step.
 */
export class MqttConnection {
  readonly client: Client;
  /** The client id as CONNECT gave it; Aedes invents one where it is empty. */
  claimedId: string | undefined;
  /** The hub refused the connection, although the device did nothing wrong. */
  isRefused = false;
  readonly peer: Peer;
  #transport: MqttTransport | undefined;
  #identity: ProvenIdentity | undefined;
  /** What CONNECT claims. Aedes would keep it as long as the connection. */
  #credentials: ClaimedCredentials = noCredentials;
  /** The topic of the hub's messages, and those that the device may publish on, by `topicField`. */
  #toDevice: Buffer | undefined;
  #ownTopics: readonly Buffer[] = [];
  #encoding: MessageEncoding = 'utf8';
  #isConnected = false;
  #isSubscribed = false;
  #cancelSubscription: () => void = () => undefined;
  readonly #reader: PacketReader;
  readonly #stream: PacketStream;
  readonly #traffic: TrafficControl;
  readonly #keepAlive: KeepAlive;
  #fault: CloseReason = 'connection_lost';
  #sawDisconnect = false;
  #will: LastWill | undefined;
  #forbiddenTopics = 0;

  constructor(
    socket: Duplex,
    private readonly options: MqttConnectionOptions,
  ) {
    const { clock, counters, limits, onThrottled } = options;
    this.peer = options.peer;
    this.#reader = new PacketReader(limits);
    this.#stream = new PacketStream(socket, {
      reader: this.#reader,
      onChunk: (packets, bytes) => this.#inspect(packets, bytes),
      handle: (packet) => this.#handle(packet),
    });
    this.#stream.once('close', () => this.#ended());
    this.#traffic = new TrafficControl({
      clock,
      counters,
      limits,
      hold: () => this.#stream.hold(),
      release: () => this.#stream.release(),
      cut: () => this.#cut('traffic_exceeded'),
      report: (throttle) => this.deviceId !== undefined && onThrottled(this.deviceId, throttle),
    });
    this.#keepAlive = new KeepAlive(clock, () => this.#expire());
    this.client = options.connect(this.#stream);
  }

  get deviceId(): DeviceId | undefined {
    return this.#identity?.deviceId;
  }

  /** The topic that the device may subscribe to. */
  get topic(): string | undefined {
    return this.#topics?.toDevice;
  }

  /** Its socket is destroyed. The broker learns that in a later turn. */
  get isGone(): boolean {
    return this.#stream.socket.destroyed;
  }

  /** The credentials were correct. */
  identify(identity: ProvenIdentity): void {
    this.#identity = identity;
    const { publishField, publishTopic } = this.options;
    const { fromDevice, toDevice } = topicsOf(identity, publishTopic);
    // Most devices also publish on the topic of the hub: one field serves both.
    const own = topicField(toDevice);
    const fieldOf = new Map([
      [publishTopic, publishField],
      [toDevice, own],
    ]);
    this.#toDevice = own;
    this.#ownTopics = fromDevice.map((topic) => fieldOf.get(topic) ?? topicField(topic));
    if (mqttTraits[identity.dialect].hasLines) this.#encoding = 'latin1';
  }

  /** Notes what CONNECT says before any of it is proved. */
  claim({ clientId, keepalive = 0, will, username, password }: ConnectClaim): void {
    this.claimedId = clientId;
    this.#credentials = { username, password };
    this.#keepAlive.begin(keepalive);
    this.#will = will && { topic: will.topic, payload: Buffer.from(will.payload).toString('utf8') };
  }

  /** Takes a message that the broker has acknowledged, as it must on any topic. [MQTT-3.3.5-2] */
  receive({ topic, payload }: DeviceMessage): void {
    if (this.#topics?.fromDevice.includes(topic) === true) {
      this.#transport?.receive(payload.toString(this.#encoding));
      return;
    }
    const { counters, limits } = this.options;
    counters.add('anomaly', 'topic_forbidden');
    this.#forbiddenTopics += 1;
    if (this.#forbiddenTopics < limits.forbiddenTopicsMax || this.client.closed) return;
    counters.add('anomaly', 'topic_abuse');
    this.#cut('protocol_error');
  }

  /** Returns the claimed credentials once, and forgets them. */
  takeCredentials(): ClaimedCredentials {
    const claimed = this.#credentials;
    this.#credentials = noCredentials;
    return claimed;
  }

  /** The broker accepted the device; CONNACK waits for `flush`. Undefined if the hub did not. */
  accepted(): DeviceId | undefined {
    if (this.deviceId === undefined) return undefined;
    this.options.leaveLobby();
    this.#reader.accept();
    this.#stream.socket.cork();
    return this.deviceId;
  }

  /**
   * CONNACK was written. A microcontroller drops messages on topics without a subscription, so it
   * is ready after it has subscribed; `onMissing` is called when that does not happen in time.
   */
  connected(onMissing: () => void): void {
    this.#isConnected = true;
    // It may have ended since the broker accepted it.
    if (this.#isReady || this.#stream.destroyed) return;
    this.#cancelSubscription = this.options.clock.setTimer(this.options.limits.introductionTimeoutMs, () => {
      this.options.counters.add('refusal', 'subscription_missing');
      onMissing();
    });
  }

  /** Sends CONNACK, with the greeting in the same write if there is one: each write costs 20 µs. */
  flush(): void {
    this.#stream.socket.uncork();
    this.#stream.answered();
  }

  /** SUBACK granted the device its own topic. */
  subscribed(): void {
    this.#isSubscribed = true;
    if (this.#isConnected) this.#cancelSubscription();
  }

  /** Returns the connection once, when its device can receive messages. */
  admit(isLate = false): DeviceConnection | undefined {
    const identity = this.#identity;
    const topic = this.#toDevice;
    if (identity === undefined || topic === undefined || this.#transport || this.#stream.destroyed) return undefined;
    if (!isLate && !this.#isReady) return undefined;
    const { counters, limits } = this.options;
    this.#transport = new MqttTransport(this.#stream.socket, {
      topic,
      unsentBytesMax: limits.unsentBytesMax,
      hangUp: () => this.client.close(),
    });
    const transport = mqttTraits[identity.dialect].hasLines
      ? new FramedLineTransport(this.#transport, {
          onOverlong: () => counters.add('anomaly', 'line_overlong'),
          onFurtherLines: (lines) => this.#traffic.count(lines, 0),
        })
      : this.#transport;
    const claimed = parseMqttClientId(this.claimedId ?? '');
    const clientId = claimed.ok ? claimed.uuid : undefined;
    return { ...identity, clientId, kind: 'MQTT', transport, ...(this.#will && { will: this.#will }), ...this.peer };
  }

  /** The broker gave the connection up and closes it. */
  fail(error: Error): void {
    if (this.claimedId === undefined && error.message === 'connect did not arrive in time')
      this.options.counters.add('refusal', 'connect_missing');
    if (this.#fault === 'connection_lost' && !isLoss(error)) this.#fault = 'protocol_error';
    this.#transport?.fail(error);
  }

  get #topics(): DeviceTopics | undefined {
    return this.#identity && topicsOf(this.#identity, this.options.publishTopic);
  }

  get #isReady(): boolean {
    const { dialect } = this.#identity ?? {};
    const mustSubscribe = dialect !== undefined && mqttTraits[dialect].mustSubscribe;
    return this.#isConnected && (this.#isSubscribed || !mustSubscribe);
  }

  #inspect(packets: readonly MqttPacket[], bytes: number): void {
    if (this.client.closed) return;
    if (packets.length > 0) this.#keepAlive.heard();
    this.#traffic.count(packets.length, bytes);
    const { fault } = this.#reader;
    if (fault === undefined || this.client.closed) return;
    this.options.counters.add('guard_cut', fault);
    this.#cut('protocol_error');
  }

  /** Passes messages of QoS 0 on the device's topics to the session, without the broker. */
  #handle(packet: MqttPacket): boolean {
    if (packet.header === CONNECT) this.#stream.awaitAnswer();
    else if (packet.header === DISCONNECT) this.#sawDisconnect = true;
    const text = textOf(packet, this.#ownTopics, this.#encoding);
    if (text !== undefined) this.#transport?.receive(text);
    return text !== undefined;
  }

  #expire(): void {
    this.#transport?.fail(new Error('keep alive timeout'));
    this.client.close();
  }

  #cut(reason: CloseReason): void {
    this.#fault = reason;
    this.client.close();
  }

  #ended(): void {
    this.options.leaveLobby();
    this.#cancelSubscription();
    this.#traffic.end();
    this.#keepAlive.end();
    if (this.deviceId === undefined && !this.isRefused) this.options.onStranger();
    const isPolite = this.#sawDisconnect && this.#fault === 'connection_lost';
    this.#transport?.ended(isPolite ? 'device_closed' : this.#fault);
  }
}

/** Whether the network failed or the device was silent, in contrast to a broken rule. */
function isLoss(error: Error): boolean {
  return 'code' in error || error.message === 'drain timeout';
}
