/** Deliveries of webhooks over a real database, to a receiver on loopback. */
import { localBus } from '@flotilla/bus';
import type { Bus, FeedEvent } from '@flotilla/bus';
import { noTicks } from '@flotilla/bus/no-ticks';
import type { DeviceId } from '@flotilla/mcp';
import { openRegistry } from '@flotilla/registry';
import type { EventRow, EventType, Registry, WebhookDeliveryRow } from '@flotilla/registry';
import { openTestDatabase } from '@flotilla/registry/test-database';
import type { TestDatabase } from '@flotilla/registry/test-database';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { admin, realClock, silent } from '../fleet-fixture.suite.js';
import { openReceiver } from './receiver.suite.js';
import type { Receiver } from './receiver.suite.js';
import { WebhookDeliveries } from './webhook-deliveries.js';
import { defaultWebhookLimits } from './webhook-limits.js';
import type { WebhookLimits } from './webhook-limits.js';
import { WebhookSender } from './webhook-sender.js';
import { Webhooks } from './webhooks.js';

/** An answer that is given at once must not be late on a loaded machine. */
const attemptMs = 2_000;
export const quick: WebhookLimits = { ...defaultWebhookLimits, attemptMs, settleMs: 300, retryMs: 40, retryMsMax: 80 };

export class DeliveryBench {
  deliveries: WebhookDeliveries;
  /** Of test events. */
  readonly sender: WebhookSender;
  heard: readonly FeedEvent[] = [];

  constructor(
    readonly registry: Registry,
    readonly bus: Bus,
    readonly receiver: Receiver,
  ) {
    this.deliveries = this.#started();
    this.sender = new WebhookSender([receiver.origin], quick);
  }

  async close(): Promise<void> {
    await Promise.all([this.deliveries.stop(), this.sender.close()]);
    for (const { id } of await this.registry.webhooks.all())
      await this.registry.webhooks.remove(id, { at: Date.now() });
    await this.receiver.close();
  }

  /** Starts deliveries with other limits, after the former ones were stopped. */
  start(limits: Partial<WebhookLimits>, trustedOrigins?: readonly string[]): void {
    this.deliveries = this.#started(limits, trustedOrigins);
  }

  #started(
    limits: Partial<WebhookLimits> = {},
    trustedOrigins: readonly string[] = [this.receiver.origin],
  ): WebhookDeliveries {
    const { registry, bus } = this;
    return new WebhookDeliveries({
      registry,
      bus,
      clock: realClock,
      logger: silent,
      trustedOrigins,
      limits: { ...quick, ...limits },
    });
  }

  async makeWebhook(types: readonly string[] = ['*'], url = `${this.receiver.origin}/hook`) {
    const webhooks = new Webhooks({
      registry: this.registry,
      clock: realClock,
      announce: () => this.deliveries.wake(),
      sender: this.sender,
      trustedOrigins: [this.receiver.origin],
    });
    const made = await webhooks.create({ url, types, enabled: true }, admin);
    if ('refusal' in made) throw new Error(made.refusal.message);
    return { webhooks, id: made.webhook.id, secret: made.secret };
  }

  append(type: EventType = 'device.connected', data: Readonly<Record<string, unknown>> = {}): EventRow {
    return this.registry.events.append({ type, deviceId: 'board' as DeviceId, at: Date.now(), data });
  }

  /** Until all events are in the database. */
  written(): Promise<void> {
    return expect.poll(() => this.registry.writers().find(({ name }) => name === 'event')?.depth).toBe(0);
  }

  async logOf(id: string): Promise<readonly WebhookDeliveryRow[]> {
    return (await this.registry.webhooks.deliveriesOf([id], 100))[0] ?? [];
  }

  /** The events that were received. */
  ids(): string[] {
    return this.receiver.received.map(({ event }) => event.id);
  }

  /** What the sweep and the ticks of the hub do. */
  wakeUntil(done: () => boolean | Promise<boolean>): Promise<void> {
    const woken = async () => {
      this.deliveries.wake();
      return done();
    };
    return expect.poll(woken, { timeout: 10_000, interval: 30 }).toBe(true);
  }
}

/** Gives each test of the file a bench, over one database, and closes it after the test. */
export function withDeliveryBench(take: (bench: DeliveryBench) => void): void {
  let database: TestDatabase;
  let registry: Registry;
  let bus: Bus;
  let bench: DeliveryBench;
  beforeAll(async () => {
    database = await openTestDatabase();
    registry = await openRegistry({ databaseUrl: database.databaseUrl });
    bus = localBus(noTicks, silent);
    bus.feed.subscribe('event', (event) => {
      bench.heard = [...bench.heard, event];
    });
  });
  beforeEach(async () => {
    bench = new DeliveryBench(registry, bus, await openReceiver());
    take(bench);
  });
  afterEach(() => bench.close());
  afterAll(async () => {
    await bus.close();
    await registry.close();
    await database.close();
  });
}
