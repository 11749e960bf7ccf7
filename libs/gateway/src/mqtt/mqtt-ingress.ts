/**
 * The way in over MQTT, from a TCP socket or from a WebSocket's stream. It guards the bytes, asks who is there before CONNACK, and hands a proven
 * connection over as a transport. What devices say is none of its business.
 */
import type { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import type { Client, Subscription } from 'aedes';
import { clientIdMax, parseMqttClientId } from '@flotilla/mcp';
import type { Clock } from '@flotilla/session';
import { askAuth } from '../auth/auth-question.js';
import type { AuthAnswer } from '../auth/auth-question.js';
import type { DeviceAuth } from '../auth/device-auth.js';
import type { ConnectionRefusal, GatewayCounters } from '../gateway-counters.js';
import type { GatewayLimits } from '../gateway-limits.js';
import type { GatewayLogger } from '../gateway-logger.js';
import type { Lobby } from '../lobby.js';
import { MqttBroker } from './mqtt-broker.js';
import { MqttConnection } from './mqtt-connection.js';
import type { Peer, SessionHost } from '../sessions/session-host.js';

export interface MqttIngressOptions {
  readonly auth: DeviceAuth;
  readonly host: SessionHost;
  readonly lobby: Lobby;
  /** The topic that all devices publish to. */
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
  readonly #broker: MqttBroker;

  constructor(private readonly options: MqttIngressOptions) {
    const { limits } = options;
    this.#broker = new MqttBroker(
      {
        connectTimeout: limits.introductionTimeoutMs,
        maxClientsIdLength: clientIdMax,
        // Devices send QoS 0 only; whoever sends QoS 2 makes us keep whole messages, so few.
        maxInflightInbound: 4,
        preConnect: (client, packet, proceed) => {
          const connection = this.#connections.get(client);
          connection?.claim(packet);
          // No session outlives its connection, and a will goes into an event instead of to subscribers.
          packet.clean = true;
          delete packet.will;
          proceed(null, true);
        },
        authenticate: (client, username, password, answer) => this.#authenticate(client, { username, password }, answer),
        authorizePublish: (_client, _packet, proceed) => proceed(null),
        authorizeSubscribe: (client, subscription, answer) => answer(null, this.#ownTopicOnly(client, subscription)),
      },
      (client, topic, payload) => this.#connections.get(client)?.hear(topic, payload),
    );
    // Missing in Aedes' types; unheard it would end the process.
    const emitter: EventEmitter = this.#broker;
    emitter.on('error', (error: unknown) => options.logger.error({ error }, 'the broker failed'));
    this.#broker.on('client', (client) => this.#prove(client));
    this.#broker.on('clientReady', (client) => this.#admit(client));
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

  /** Takes a connected stream. It owns it from here on, also where it refuses it. */
  accept(conn: Duplex, peer: Peer): void {
    const leaveLobby = this.#broker.closed ? undefined : this.options.lobby.enter();
    if (leaveLobby === undefined) {
      this.options.counters.add('refusal', 'too_many_connections');
      conn.on('error', () => undefined);
      conn.destroy();
      return;
    }
    const client = this.#broker.handle(conn);
    const { counters, limits, publishTopic } = this.options;
    const connection = new MqttConnection(client, { peer, leaveLobby, limits, counters, publishTopic });
    this.#connections.set(client, connection);
  }

  #authenticate(
    client: Client,
    claim: { readonly username: string | undefined; readonly password: Buffer | undefined },
    answer: Answer,
  ): void {
    const connection = this.#connections.get(client);
    const clientId = connection?.claimedId ?? '';
    const identity = parseMqttClientId(clientId);
    if (connection === undefined || !identity.ok) {
      const problem = identity.ok ? 'the connection is gone' : identity.problem;
      this.#refuse(answer, 'identifier_rejected', new ConnectRefusal(IDENTIFIER_REJECTED, problem));
      return;
    }
    if (this.options.host.isFull) {
      this.#refuse(answer, 'hub_full', new ConnectRefusal(SERVER_UNAVAILABLE, 'no room for another session'));
      return;
    }
    const decide = (verdict: AuthAnswer) => {
      if (verdict.kind === 'granted') {
        connection.deviceId = verdict.deviceId ?? identity.deviceId;
        answer(null, true);
      } else if (verdict.kind === 'undecided') {
        this.#refuse(answer, 'auth_unavailable', new ConnectRefusal(SERVER_UNAVAILABLE, 'credentials could not be checked'));
      } else {
        const code = verdict.reason === 'credentials_missing' ? NOT_AUTHORIZED : BAD_CREDENTIALS;
        this.#refuse(answer, verdict.reason, new ConnectRefusal(code, verdict.message));
      }
    };
    const { remoteAddress } = connection.peer;
    const ask = () => this.options.auth.checkMqtt({ clientId, ...claim, remoteAddress });
    askAuth({ ask, subject: { clientId, remoteAddress } }, this.options, decide);
  }

  #refuse(answer: Answer, reason: ConnectionRefusal, refusal: ConnectRefusal): void {
    this.options.counters.add('refusal', reason);
    answer(refusal, null);
  }

  /** Accepted, CONNACK still to come. Aedes has just cut an older connection of the same client id: its session must learn why first. */
  #prove(client: Client): void {
    const deviceId = this.#connections.get(client)?.prove();
    if (deviceId !== undefined) this.options.host.supersede(deviceId);
  }

  #admit(client: Client): void {
    const arrival = this.#connections.get(client)?.arrive();
    if (arrival !== undefined) this.options.host.admit(arrival);
  }

  /** Null is a SUBACK with failure. Deliveries do not depend on it: it only keeps old firmware content. [xiaozhi §2.2] */
  #ownTopicOnly(client: Client, subscription: Subscription): Subscription | null {
    return subscription.topic === this.#connections.get(client)?.topic ? subscription : null;
  }
}
