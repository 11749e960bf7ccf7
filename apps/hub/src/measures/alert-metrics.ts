/** Metrics of alerts and their notifications. */
import { Counter, Gauge, type Registry } from 'prom-client';
import { answerOr } from '../answer-or.js';

/** Sources about alerts: deliveries of this process, and the state of all processes. */
export interface AlertSources {
  readonly firing: () => Promise<readonly { readonly severity: string; readonly count: number }[]>;
  readonly counts: () => Readonly<Record<string, number>>;
  readonly backlog: () => Promise<{
    readonly pending: number;
    readonly oldestMs: number;
    readonly failingChannels: number;
  }>;
  readonly roundMs: () => number;
}

const severities = ['INFO', 'WARNING', 'CRITICAL'];

export function addAlertMetrics(registry: Registry, { backlog, counts, firing, roundMs }: AlertSources): void {
  const registers = [registry];
  new Gauge({
    name: 'flotilla_alerts_firing',
    help: 'Alerts that fire, by severity; NaN while PostgreSQL does not answer.',
    labelNames: ['severity'],
    registers,
    async collect() {
      const known = await answerOr<Awaited<ReturnType<typeof firing>> | undefined>(firing(), undefined);
      for (const severity of severities) {
        const count = known?.find((each) => each.severity === severity)?.count ?? 0;
        this.set({ severity }, known === undefined ? Number.NaN : count);
      }
    },
  });
  new Counter({
    name: 'flotilla_notifications_total',
    help: 'Attempts to deliver notifications by result, and notifications that were given up.',
    labelNames: ['result'],
    registers,
    collect() {
      this.reset();
      for (const [result, count] of Object.entries(counts())) this.inc({ result }, count);
    },
  });
  new Gauge({
    name: 'flotilla_alert_evaluation_seconds',
    help: 'How long the last evaluation of the alert rules took in this process.',
    registers,
    collect() {
      this.set(roundMs() / 1_000);
    },
  });
  type Backlog = Awaited<ReturnType<AlertSources['backlog']>>;
  const unknown: Backlog = { pending: Number.NaN, oldestMs: Number.NaN, failingChannels: Number.NaN };
  let reading: Promise<Backlog> | undefined;
  // One statement for the gauges of a scrape.
  const read = () => (reading ??= answerOr(backlog(), unknown).finally(() => (reading = undefined)));
  const gauge = (name: string, help: string, value: (now: Backlog) => number) =>
    new Gauge({
      name,
      help: `${help}; NaN while PostgreSQL does not answer.`,
      registers,
      async collect() {
        this.set(value(await read()));
      },
    });
  gauge('flotilla_notifications_pending', 'Notifications that wait for their delivery', ({ pending }) => pending);
  gauge(
    'flotilla_notification_oldest_pending_seconds',
    'Age of the oldest notification that waits',
    ({ oldestMs }) => oldestMs / 1_000,
  );
  gauge(
    'flotilla_notification_channels_failing',
    'Enabled channels whose last attempt failed',
    ({ failingChannels }) => failingChannels,
  );
}
