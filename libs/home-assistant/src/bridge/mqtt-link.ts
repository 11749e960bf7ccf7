/**
 * One connection to the broker of Home Assistant. Connects again by itself, later after each
 * failure. Sends nothing while it is not connected, because everything is published at a connect.
 */
import { connect } from 'mqtt';
import type { MqttClient } from 'mqtt';
import type { FleetLogger } from '@flotilla/fleet';

export interface BrokerAccess {
  /** `mqtt://host:port` or `mqtts://host:port`. */
  readonly url: string;
  readonly username: string | undefined;
  readonly password: string | undefined;
}

export interface LinkOptions {
  readonly access: BrokerAccess;
  readonly clientId: string;
  /** Retained; `offline` is published here when the connection ends. */
  readonly statusTopic: string;
  readonly filters: readonly string[];
  /** Subscribed until all retained messages of it have arrived. */
  readonly retainedFilter: string;
  /** Marks the end of the retained messages. */
  readonly markerTopic: string;
  readonly logger: FleetLogger;
  /** Connected, subscribed, and all retained messages have arrived. */
  onReady(): void;
  onMessage(topic: string, payload: string, isRetained: boolean): void;
}

/** Pauses between attempts, ms. */
const retryMsMin = 1_000;
const retryMsMax = 60_000;
const connectWithinMs = 10_000;
/** A broker that is gone without notice is noticed after one and a half times as long. */
const keepAliveSeconds = 15;
const closeWithinMs = 2_000;
/** How long retained messages may take, ms. */
const readyWithinMs = 5_000;

export class MqttLink {
  readonly #client: MqttClient;
  #retryMs = retryMsMin;
  #isReported = false;
  #isReady = false;
  #readyTimer: NodeJS.Timeout | undefined;

  constructor(private readonly options: LinkOptions) {
    const { access, clientId, statusTopic } = options;
    this.#client = connect(access.url, {
      ...(access.username !== undefined && { username: access.username }),
      ...(access.password !== undefined && { password: access.password }),
      clientId,
      clean: true,
      protocolVersion: 4,
      resubscribe: false,
      reconnectOnConnackError: true,
      reconnectPeriod: retryMsMin,
      connectTimeout: connectWithinMs,
      keepalive: keepAliveSeconds,
      queueQoSZero: false,
      will: { topic: statusTopic, payload: Buffer.from('offline'), qos: 1, retain: true },
    });
    this.#client.on('connect', () => this.#connected());
    this.#client.on('message', (topic, payload, packet) => {
      if (topic === options.markerTopic) this.#ready();
      else options.onMessage(topic, payload.toString('utf8'), packet.retain);
    });
    this.#client.on('error', (error) => this.#failed(error));
    this.#client.on('close', () => this.#closed());
  }

  get isConnected(): boolean {
    return this.#client.connected;
  }

  /** Publishes a retained message. While there is no connection it is dropped. */
  publish(topic: string, payload: string): void {
    if (!this.#client.connected) return;
    this.#client.publish(topic, payload, { qos: 1, retain: true }, (error) => {
      // A cut connection leaves messages open. The next connect publishes all of them again.
      if (error && this.#client.connected)
        this.options.logger.warn({ err: error, topic }, 'the broker of Home Assistant did not take a message');
    });
  }

  async close(): Promise<void> {
    clearTimeout(this.#readyTimer);
    if (this.#client.connected) {
      const sent = this.#client.publishAsync(this.options.statusTopic, 'offline', { qos: 1, retain: true });
      await settledWithin(sent, closeWithinMs);
    }
    await settledWithin(this.#client.endAsync(true), closeWithinMs);
  }

  #connected(): void {
    const { filters, logger, markerTopic, retainedFilter, statusTopic } = this.options;
    this.#retryMs = retryMsMin;
    this.#client.options.reconnectPeriod = retryMsMin;
    this.#isReported = false;
    logger.info({}, 'connected to the broker of Home Assistant');
    this.publish(statusTopic, 'online');
    this.#isReady = false;
    this.#readyTimer = setTimeout(() => this.#ready(), readyWithinMs);
    this.#client.subscribe([...filters, retainedFilter, markerTopic], { qos: 1 }, (error) => {
      if (error && this.#client.connected)
        logger.error({ err: error }, 'the broker of Home Assistant refused a subscription: check its access list');
      // The broker delivers in order: the marker comes after the retained messages.
      if (this.#client.connected) this.#client.publish(markerTopic, '', { qos: 1 });
    });
  }

  #ready(): void {
    clearTimeout(this.#readyTimer);
    if (this.#isReady || !this.#client.connected) return;
    this.#isReady = true;
    const { markerTopic, onReady, retainedFilter } = this.options;
    this.#client.unsubscribe([retainedFilter, markerTopic]);
    onReady();
  }

  #failed(error: Error): void {
    if (!this.#isReported)
      this.options.logger.warn({ err: error }, 'the broker of Home Assistant cannot be reached; trying again');
    this.#isReported = true;
  }

  #closed(): void {
    clearTimeout(this.#readyTimer);
    if (!this.#isReported) this.options.logger.warn({}, 'the connection to the broker of Home Assistant was closed');
    this.#isReported = true;
    this.#retryMs = Math.min(retryMsMax, this.#retryMs * 2);
    this.#client.options.reconnectPeriod = this.#retryMs;
  }
}

async function settledWithin(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([work.catch(() => undefined), late]);
  clearTimeout(timer);
}
