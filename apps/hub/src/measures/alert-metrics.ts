/** Metrics of alerts and their notifications. */
import { Gauge, type Registry } from 'prom-client';
import { answerOr } from '../answer-or.js';
import { addTotals, backlogGauges } from './metric-kinds.js';

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
  const deliveries = {
    name: 'flotilla_notifications_total',
    help: 'Attempts to deliver notifications by result, and notifications that were given up.',
    label: 'result',
  };
  addTotals(registry, deliveries, () => Object.entries(counts()));
  new Gauge({
    name: 'flotilla_alert_evaluation_seconds',
    help: 'How long the last evaluation of the alert rules took in this process.',
    registers,
    collect() {
      this.set(roundMs() / 1_000);
    },
  });
  const gauge = backlogGauges(registry, backlog);
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
