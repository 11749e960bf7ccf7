/** Alerts and their worker over a real database, with a manual clock and a real receiver. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import type { AlertRow, AlertRulePlan, AlertRuleRow } from '@flotilla/registry';
import { admin, openHub, silent } from '../fleet-fixture.suite.js';
import type { HubFixture, HubProcess } from '../fleet-fixture.suite.js';
import { openReceiver } from '../webhooks/receiver.suite.js';
import type { Receiver } from '../webhooks/receiver.suite.js';
import { AlertWorker } from './alert-worker.js';
import { Alerts } from './alerts.js';
import { ChannelSender } from './channels/channel-sender.js';

const messages = { language: 'en', timeZone: 'UTC', consoleUrl: 'https://hub.example' } as const;

export class AlertBench {
  readonly alerts: Alerts;
  readonly worker: AlertWorker;
  /** Of the one channel, which leads to the receiver. */
  channelId = '';
  readonly #sender: ChannelSender;
  readonly #rules: AlertRuleRow[] = [];

  private constructor(
    readonly hub: HubProcess,
    readonly receiver: Receiver,
  ) {
    const trustedOrigins = [receiver.origin];
    this.#sender = new ChannelSender({ trustedOrigins, smtp: undefined });
    const { registry, bus, clock } = hub;
    this.alerts = new Alerts({ registry, bus, clock, sender: this.#sender, trustedOrigins, messages });
    this.worker = this.openWorker();
  }

  static async open(hub: HubProcess): Promise<AlertBench> {
    const bench = new AlertBench(hub, await openReceiver());
    const config = { url: `${bench.receiver.origin}/hook`, secret: 'of the channel' };
    const channel = { name: randomUUID(), kind: 'WEBHOOK', config, enabled: true } as const;
    const made = await bench.alerts.createChannel(channel, admin);
    if ('refusal' in made) throw new TypeError(made.refusal.message);
    bench.channelId = made.channel.id;
    return bench;
  }

  async close(): Promise<void> {
    for (const { id } of this.#rules) await this.alerts.removeRule(id, admin);
    await this.rounds(this.worker, 2);
    await this.worker.stop();
    await this.alerts.removeChannel(this.channelId, admin);
    await this.#sender.close();
    await this.receiver.close();
  }

  openWorker(leaseId: string = this.hub.lease.id): AlertWorker {
    const { registry, bus, clock } = this.hub;
    return new AlertWorker({
      registry,
      bus,
      clock,
      sender: this.#sender,
      messages,
      timing: { graceMs: 60_000 },
      logger: silent,
      lease: { id: leaseId as HubProcess['lease']['id'] },
    });
  }

  /** Evaluations two seconds apart, each with its deliveries. */
  async rounds(each: AlertWorker, count: number): Promise<void> {
    for (let left = count; left > 0; left -= 1) {
      this.hub.clock.advance(2_000);
      await each.run();
      await each.delivered();
    }
  }

  async ruled(change: Partial<AlertRulePlan>): Promise<AlertRuleRow> {
    const plan: AlertRulePlan = {
      name: randomUUID(),
      kind: 'DEVICE_OFFLINE',
      devices: undefined,
      severity: 'WARNING',
      forSeconds: 10,
      threshold: undefined,
      path: undefined,
      below: false,
      windowSeconds: 600,
      groupAbove: 5,
      repeatEverySeconds: undefined,
      channelIds: [this.channelId],
      enabled: true,
      ...change,
    };
    const saved = await this.alerts.createRule(plan, admin);
    if ('refusal' in saved) throw new TypeError(saved.refusal.message);
    this.#rules.push(saved.rule);
    return saved.rule;
  }

  async alertsOf({ id }: AlertRuleRow): Promise<readonly AlertRow[]> {
    return (await this.hub.registry.alerts.page({ ruleId: id }, { first: 50 })).rows;
  }

  received() {
    return this.receiver.received.map(({ event }) => event);
  }

  types() {
    return this.received().map(({ type }) => type);
  }
}

/** Gives each test of the describe block a bench, over one hub, and closes it after the test. */
export function withAlertBench(take: (bench: AlertBench) => void): void {
  let fixture: HubFixture;
  let bench: AlertBench;
  beforeAll(async () => {
    fixture = await openHub();
  });
  beforeEach(async () => {
    bench = await AlertBench.open(fixture.hub);
    take(bench);
  });
  afterEach(() => bench.close());
  afterAll(() => fixture.close());
}
