/** Prometheus metrics. Values are read at each scrape; only calls are counted as they settle. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry as MetricsRegistry } from 'prom-client';
import type { DesiredStateObserver } from '@flotilla/fleet';
import { backendName, type Gateway } from '@flotilla/gateway';
import { transportKinds } from '@flotilla/mcp';
import type { Registry } from '@flotilla/registry';
import { answerOr } from '../answer-or.js';
import { addAlertMetrics, type AlertSources } from './alert-metrics.js';
import { addHomeAssistantMetrics, type HomeAssistantSources } from './home-assistant-metrics.js';
import { addTotals, backlogGauges } from './metric-kinds.js';
import { addSignalMetrics, type SignalSources } from './signal-metrics.js';

const origins = ['single', 'job'] as const;
/** Of calls. REFUSED: before it counted as one. RESTARTED: an unanswered restart. */
const outcomes = ['SUCCEEDED', 'FAILED', 'REJECTED', 'UNKNOWN', 'NOT_SENT', 'REFUSED', 'RESTARTED'];
/** Latency buckets of a call, seconds: from a local round trip to the longest deadline. */
const CALL_SECONDS_BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300];

/** Sources of the gauges that every process has, read at a scrape. */
interface MetricsSources {
  readonly queueDepth: () => Promise<number>;
  /** Refused messages by reason. */
  readonly busRefused: () => ReadonlyMap<string, number>;
  readonly writers: Registry['writers'];
}

/** Sources about webhooks: deliveries of this process, and the backlog of all processes. */
interface WebhookSources {
  readonly counts: () => Readonly<Record<string, number>>;
  readonly backlog: () => Promise<{ readonly paused: number; readonly pending: number; readonly oldestMs: number }>;
}

export interface HubMetrics {
  /** Adds sessions, conversations and events of the gateway. Call it once, in a gateway. */
  addGateway(status: Gateway['status']): void;
  /** Adds aggregates of measurements, and restarts. Call it once, in a worker. */
  addSignals(sources: SignalSources): void;
  /** Counts sets, and how long edits took. */
  readonly desiredStates: DesiredStateObserver;
  /** Adds the targets by state. Call it once, in a process that keeps desired states true. */
  addDesiredStates(targets: () => ReadonlyMap<string, number>): void;
  /** Adds metrics of alerts. Call it once, in a process that evaluates rules. */
  addAlerts(sources: AlertSources): void;
  /** Adds metrics of webhooks. Call it once, in a process that delivers to them. */
  addWebhooks(sources: WebhookSources): void;
  /** Adds metrics of the bridge. Call it once, in a process that has one. */
  addHomeAssistant(bridge: HomeAssistantSources): void;
  /** Counts one settled call by its origin. */
  callSettled(origin: (typeof origins)[number], outcome: string, durationMs: number): void;
  /** Returns the exposition text and its content type. */
  scrape(): Promise<{ readonly contentType: string; readonly text: string }>;
}

export function createMetrics(sources: MetricsSources): HubMetrics {
  const registry = new MetricsRegistry();
  collectDefaultMetrics({ register: registry, prefix: 'flotilla_' });
  const calls = new Counter({
    name: 'flotilla_calls_total',
    help: 'Tool calls by outcome.',
    labelNames: ['origin', 'outcome'],
    registers: [registry],
  });
  // Prometheus sees no increase where a series begins: an alert would miss the first UNKNOWN calls.
  for (const origin of origins) for (const outcome of outcomes) calls.inc({ origin, outcome }, 0);
  const seconds = new Histogram({
    name: 'flotilla_call_duration_seconds',
    help: 'Time from the start of a call to its outcome.',
    labelNames: ['origin'],
    buckets: CALL_SECONDS_BUCKETS,
    registers: [registry],
  });
  addStorageGauges(registry, sources);
  addBusCounter(registry, sources.busRefused);
  return {
    desiredStates: desiredStateMetrics(registry),
    addDesiredStates: (targets) => addDesiredTargets(registry, targets),
    addAlerts: (alerts) => addAlertMetrics(registry, alerts),
    addGateway: (status) => addGatewayGauges(registry, status),
    addSignals: (signals) => addSignalMetrics(registry, signals),
    addWebhooks: (webhooks) => addWebhookMetrics(registry, webhooks),
    addHomeAssistant: (bridge) => addHomeAssistantMetrics(registry, bridge),
    callSettled: (origin, outcome, durationMs) => {
      calls.inc({ origin, outcome });
      seconds.observe({ origin }, durationMs / 1_000);
    },
    scrape: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  };
}

/** From a pass over a few devices to one over a large fleet at a slow pace, seconds. */
const CONVERGENCE_SECONDS_BUCKETS = [0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3_600];

function desiredStateMetrics(registry: MetricsRegistry): DesiredStateObserver {
  const sets = new Counter({
    name: 'flotilla_desired_state_sets_total',
    help: 'Calls of desired states by outcome.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'flotilla_desired_state_convergence_seconds',
    help: 'Time from an edit until this share of the reachable devices (percent) was in sync.',
    labelNames: ['percent'],
    buckets: CONVERGENCE_SECONDS_BUCKETS,
    registers: [registry],
  });
  return {
    setEnded: (outcome) => sets.inc({ outcome }),
    converged: (percent, took) => seconds.observe({ percent }, took),
  };
}

function addDesiredTargets(registry: MetricsRegistry, targets: () => ReadonlyMap<string, number>): void {
  new Gauge({
    name: 'flotilla_desired_state_targets',
    help: 'Devices by state, over the desired states that this process keeps true.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [state, count] of targets()) this.set({ state }, count);
    },
  });
}

function addGatewayGauges(registry: MetricsRegistry, status: Gateway['status']): void {
  new Gauge({
    name: 'flotilla_sessions',
    help: 'Live sessions by state and transport.',
    labelNames: ['state', 'transport'],
    registers: [registry],
    collect() {
      this.reset();
      // An autoscaler, and a panel, must not take an empty gateway for one without metrics.
      for (const transport of transportKinds) this.set({ state: 'ready', transport }, 0);
      for (const { state, transport, count } of status().sessions) this.set({ state, transport }, count);
    },
  });
  const gauge = (
    name: string,
    help: string,
    value: 'unproven' | 'undiscovered' | 'flapping' | 'conversations' | 'udpChannels',
  ) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(status()[value]);
      },
    });
  gauge('flotilla_unproven_connections', 'Connections without a proven identity.', 'unproven');
  gauge('flotilla_undiscovered_sessions', 'Sessions that wait to send their greeting.', 'undiscovered');
  gauge('flotilla_flapping_devices', 'Devices that reconnect too often and must wait.', 'flapping');
  gauge('flotilla_conversations', 'Conversations with voice servers, opening ones included.', 'conversations');
  gauge('flotilla_udp_channels', 'Open UDP audio channels of MQTT devices.', 'udpChannels');
  new Gauge({
    name: 'flotilla_voice_server_up',
    help: 'Whether a voice server answered the last request.',
    labelNames: ['backend'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { state, url } of status().backends)
        if (state !== 'UNTRIED') this.set({ backend: backendName(url) }, state === 'WELL' ? 1 : 0);
    },
  });
  const events = {
    name: 'flotilla_gateway_events_total',
    help: 'Events in the gateway: anomalies, refusals, closed connections.',
    label: 'name',
  };
  addTotals(registry, events, () => status().counts.map(({ name, count }) => [name, count]));
}

function addWebhookMetrics(registry: MetricsRegistry, { counts, backlog }: WebhookSources): void {
  const deliveries = {
    name: 'flotilla_webhook_deliveries_total',
    help: 'Delivery attempts to webhooks by result, and events that were given up.',
    label: 'result',
  };
  addTotals(registry, deliveries, () => Object.entries(counts()));
  const gauge = backlogGauges(registry, backlog);
  gauge('flotilla_webhooks_paused', 'Webhooks that the hub paused after failures', ({ paused }) => paused);
  gauge(
    'flotilla_webhook_events_owed',
    'Events that wait for delivery to webhooks, counted up to 100,000',
    ({ pending }) => pending,
  );
  gauge(
    'flotilla_webhook_oldest_owed_seconds',
    'Age of the oldest event that waits for delivery to a webhook',
    ({ oldestMs }) => oldestMs / 1_000,
  );
}

function addBusCounter(registry: MetricsRegistry, busRefused: MetricsSources['busRefused']): void {
  const refused = {
    name: 'flotilla_bus_messages_refused_total',
    help: 'Messages over Redis that were dropped because their signature was not valid.',
    label: 'reason',
  };
  addTotals(registry, refused, busRefused);
}

function addStorageGauges(registry: MetricsRegistry, { queueDepth, writers }: MetricsSources): void {
  new Gauge({
    name: 'flotilla_queue_depth',
    help: 'Waiting or delayed ticks; NaN while the queue does not answer.',
    registers: [registry],
    async collect() {
      // The other metrics stay available while the queue is not.
      this.set(await answerOr(queueDepth(), Number.NaN));
    },
  });
  const gauge = (
    name: string,
    help: string,
    value: (writer: ReturnType<MetricsSources['writers']>[number]) => number,
  ) =>
    new Gauge({
      name,
      help,
      labelNames: ['writer'],
      registers: [registry],
      collect() {
        for (const writer of writers()) this.set({ writer: writer.name }, value(writer));
      },
    });
  gauge('flotilla_writer_depth', 'Rows that wait in a batch writer.', (writer) => writer.depth);
  gauge(
    'flotilla_writer_lag_seconds',
    'Age of the oldest row that waits in a batch writer.',
    (writer) => writer.lagMs / 1_000,
  );
  const dropped = { name: 'flotilla_writer_dropped_total', help: 'Rows that a batch writer dropped.', label: 'writer' };
  addTotals(registry, dropped, () => writers().map(({ name, droppedTotal }) => [name, droppedTotal]));
}
