/**
 * The ingress for MQTT, over a TCP socket or the stream of a WebSocket. It checks credentials
 * before CONNACK and hands the connection over as a transport. It does not read messages.
 */
import type { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import type { Aedes, Client, Subscription } from 'aedes';
import { clientIdMax, parseMqttClientId } from '@flotilla/mcp';
import type { Clock } from '@flotilla/session';
import { askAuth } from '../auth/auth-question.js';
import type { DeviceAuth } from '../auth/device-auth.js';
import type { ConnectionRefusal, GatewayCounters } from '../gateway-counters.js';
import type { GatewayLimits } from '../gateway-limits.js';
import type { GatewayLogger } from '../gateway-logger.js';
import type { DeviceFailures } from '../overload/device-failures.js';
import type { Lobby } from '../overload/lobby.js';
import { makeBroker } from './mqtt-broker.js';
import { MqttConnection } from './mqtt-connection.js';
import type { ProvenIdentity } from './mqtt-connection.js';
import { topicField } from './publish-packet.js';
import type { Peer, SessionHost } from '../sessions/session-host.js';

export interface MqttIngressOptions {
  readonly auth: Pick<DeviceAuth, 'checkMqtt'>;
  readonly host: SessionHost;
  readonly lobby: Lobby;
  readonly attempts: DeviceFailures;
  /** The topic that all xiaozhi devices publish to. */
  readonly publishTopic: string;
  readonly clock: Clock;
  readonly limits: GatewayLimits;
  readonly counters: GatewayCounters;
  readonly logger: GatewayLogger;
}

/** CONNACK return codes. [MQTT 3.2.2.3] */
const IDENTIFIER_REJECTED = 2;
const SERVER_UNAVAILABLE = 3;
const BAD_CREDENTIALS = 4;
const NOT_AUTHORIZED = 5;
/** In place of a granted QoS. [MQTT 3.9.3] */
const SUBSCRIPTION_REFUSED: number = 0x80;

/** Aedes reads `returnCode` of the error it is given and answers with it. */
class ConnectRefusal extends Error {
  constructor(
    readonly returnCode: 2 | 3 | 4 | 5,
    message: string,
  ) {
    super(message);
  }
}

type Answer = (error: ConnectRefusal | null, isGranted: boolean | null) => void;

export class MqttIngress {
  readonly #connections = new WeakMap<Client, MqttConnection>();
  readonly #broker: Aedes;
  /** All devices share it. */
  readonly #publishField: Buffer;

  constructor(private readonly options: MqttIngressOptions) {
    const { limits } = options;
    this.#publishField = topicField(options.publishTopic);
    this.#broker = makeBroker(
      {
        connectTimeout: limits.introductionTimeoutMs,
        maxClientsIdLength: clientIdMax,
        // Devices send QoS 0. Few messages of QoS 2 are allowed, because they are kept in memory.
        maxInflightInbound: 4,
        preConnect: (client, packet, proceed) => {
          const connection = this.#connections.get(client);
          connection?.claim(packet);
          // No session outlives its connection, the hub writes a will into an event, and
          // `MqttConnection` checks the keep-alive, because it sees all packets.
          packet.clean = true;
          packet.keepalive = 0;
          // Aedes keeps the packet as long as the client. Deleted members would take 800 bytes.
          Object.assign(packet, { will: undefined, username: undefined, password: undefined });
          proceed(null, true);
        },
        authenticate: (client, _username, _password, answer) => this.#authenticate(client, answer),
        authorizeSubscribe: (client, subscription, answer) => answer(null, this.#ownTopicOnly(client, subscription)),
      },
      (client, message) => this.#connections.get(client)?.receive(message),
    );
    // Aedes' types lack this event. Unhandled it would end the process.
    const emitter: EventEmitter = this.#broker;
    emitter.on('error', (error: unknown) => options.logger.error({ error }, 'the broker failed'));
    this.#broker.on('client', (client) => this.#accepted(client));
    this.#broker.on('clientReady', (client) => this.#connected(client));
    this.#broker.on('subscribe', (subscriptions, client) => this.#subscribed(client, subscriptions));
    this.#broker.on('clientError', (client, error) => this.#connections.get(client)?.fail(error));
    this.#broker.on('connectionError', (client, error) => this.#connections.get(client)?.fail(error));
  }

  async start(): Promise<void> {
    await this.#broker.listen();
  }

  async stop(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#broker.close(resolve);
    });
  }

  /** Takes over a connected stream, also if it refuses it. */
  accept(conn: Duplex, peer: Peer): void {
    const { attempts, clock, counters, host, limits, lobby, publishTopic } = this.options;
    const isLimited = !attempts.mayConnect(peer.remoteAddress);
    let isExpelled = false;
    const expel = () => {
      isExpelled = true;
      conn.destroy();
    };
    const leaveLobby = this.#broker.closed || isLimited ? undefined : lobby.enter(peer.remoteAddress, expel);
    if (leaveLobby === undefined) {
      counters.add('refusal', isLimited ? 'address_limited' : 'too_many_connections');
      conn.on('error', () => undefined);
      conn.destroy();
      return;
    }
    const connection = new MqttConnection(conn, {
      peer,
      leaveLobby,
      clock,
      limits,
      counters,
      publishTopic,
      publishField: this.#publishField,
      connect: (stream) => this.#broker.handle(stream),
      onStranger: () => {
        if (!isExpelled) attempts.failed(peer.remoteAddress);
      },
      onThrottled: (deviceId, throttle) =>
        host.report(deviceId, 'device.throttled', { transport: 'MQTT', ...throttle }),
    });
    this.#connections.set(connection.client, connection);
  }

  #authenticate(client: Client, answer: Answer): void {
    const connection = this.#connections.get(client);
    const claim = connection?.takeCredentials();
    const clientId = connection?.claimedId ?? '';
    const identity = parseMqttClientId(clientId);
    if (connection === undefined || claim === undefined || !identity.ok) {
      const problem = identity.ok ? 'the connection is gone' : identity.problem;
      this.#refuse(answer, 'identifier_rejected', new ConnectRefusal(IDENTIFIER_REJECTED, problem));
      return;
    }
    const { remoteAddress } = connection.peer;
    const { auth, attempts, host } = this.options;
    const { expulsions } = host;
    if (this.#isRefusedAsFull(connection, identity, answer)) return;
    if (!attempts.mayTry(remoteAddress, clientId)) {
      this.#refuseForNow(connection, answer, 'address_limited', 'too many failed attempts from this address');
      return;
    }
    const ask = () => auth.checkMqtt({ clientId, ...claim, remoteAddress });
    askAuth({ ask, subject: { clientId, remoteAddress } }, this.options, (verdict) => {
      if (verdict.kind === 'granted')
        this.#accept(
          connection,
          { deviceId: verdict.deviceId ?? identity.deviceId, dialect: identity.dialect, expulsions },
          answer,
        );
      else if (verdict.kind === 'undecided')
        this.#refuseForNow(connection, answer, 'auth_unavailable', 'credentials could not be checked');
      else {
        const code = verdict.reason === 'credentials_missing' ? NOT_AUTHORIZED : BAD_CREDENTIALS;
        this.#refuse(answer, verdict.reason, new ConnectRefusal(code, verdict.message));
      }
    });
  }

  #accept(connection: MqttConnection, identity: ProvenIdentity, answer: Answer): void {
    const { attempts, host } = this.options;
    attempts.succeeded(connection.peer.remoteAddress, connection.claimedId ?? '');
    // The broker would end the device's live connection for it. It closes this one with its socket.
    if (connection.isGone) return;
    // Others may have taken the last places while its credentials were checked.
    if (this.#isRefusedAsFull(connection, identity, answer)) return;
    if (host.welcome(identity.deviceId, 'MQTT') === 'welcome') {
      connection.identify(identity);
      answer(null, true);
    } else {
      this.#refuseForNow(connection, answer, 'flapping', 'this device connects again and again; it has to wait');
    }
  }

  #isRefusedAsFull(
    connection: MqttConnection,
    { deviceId }: Pick<ProvenIdentity, 'deviceId'>,
    answer: Answer,
  ): boolean {
    const isFull = this.options.host.isFullFor(deviceId);
    if (isFull) this.#refuseForNow(connection, answer, 'hub_full', 'no room for another session');
    return isFull;
  }

  /** Refuses for a reason that is not the device's fault: it should connect again later. */
  #refuseForNow(connection: MqttConnection, answer: Answer, reason: ConnectionRefusal, message: string): void {
    connection.isRefused = true;
    this.#refuse(answer, reason, new ConnectRefusal(SERVER_UNAVAILABLE, message));
  }

  #refuse(answer: Answer, reason: ConnectionRefusal, refusal: ConnectRefusal): void {
    this.options.counters.add('refusal', reason);
    answer(refusal, null);
  }

  /** Before CONNACK. Aedes has just closed an older connection, whose session must learn why. */
  #accepted(client: Client): void {
    const deviceId = this.#connections.get(client)?.accepted();
    if (deviceId !== undefined) this.options.host.supersede(deviceId);
  }

  #connected(client: Client): void {
    const connection = this.#connections.get(client);
    connection?.connected(() => this.#closeUnsubscribed(connection));
    this.#admit(connection);
    connection?.flush();
  }

  #subscribed(client: Client, subscriptions: readonly Subscription[]): void {
    const connection = this.#connections.get(client);
    if (!subscriptions.some(({ topic, qos }) => topic === connection?.topic && qos !== SUBSCRIPTION_REFUSED)) return;
    connection?.subscribed();
    this.#admit(connection);
  }

  #admit(connection: MqttConnection | undefined): void {
    const admitted = connection?.admit();
    if (admitted !== undefined) this.options.host.admit(admitted);
  }

  /** Gives a board that cannot receive a short session: so its end is recorded. */
  #closeUnsubscribed(connection: MqttConnection): void {
    const admitted = connection.admit(true);
    if (admitted === undefined) return;
    this.options.host.admit(admitted);
    admitted.transport.close('greeting_failed');
  }

  /** Null is a SUBACK with failure. Only old firmware needs the subscription. [xiaozhi §2.2] */
  #ownTopicOnly(client: Client, subscription: Subscription): Subscription | null {
    return subscription.topic === this.#connections.get(client)?.topic ? subscription : null;
  }
}
