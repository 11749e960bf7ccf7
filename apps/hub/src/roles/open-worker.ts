/** The worker role: jobs, webhooks and retention, driven by ticks. */
import {
  DesiredStateRunner,
  observeJobCalls,
  RecordRetention,
  RecurringRuns,
  SignalsUpkeep,
  TickWorker,
  UploadRetention,
  WatchedTools,
  WebhookDeliveries,
  type CallRules,
} from '@flotilla/fleet';
import type { HubMetrics } from '../measures/metrics.js';
import { systemClock } from '../system-clock.js';
import { openAlertWorker } from './open-alerts.js';
import type { OpenPictures } from './open-pictures.js';
import { rolloutLimitsOf } from './rollout-limits-of.js';
import type { SharedServices } from './shared-services.js';

const DAY_MS = 86_400_000;
/** Paths with metrics: the ones that most devices report. */
const MEASURED_PATHS_MAX = 50;

export async function openWorker(
  services: SharedServices,
  callRules: CallRules,
  metrics: HubMetrics,
  pictures: OpenPictures,
): Promise<TickWorker> {
  const { blobs, bus, closers, config, lease, logger, registry, singleCalls, tracer } = services;
  const clock = systemClock;
  const { firmwareImages: images, uploads } = registry;
  const kept = {
    recordsMs: config.retentionDays * DAY_MS,
    jobsMs: config.jobsDays * DAY_MS,
    auditMs: config.auditDays * DAY_MS,
    measurementsMs: config.measurementsDays * DAY_MS,
    rollupsMs: config.rollupDays * DAY_MS,
  };
  const retention = [
    new UploadRetention({ registry, uploads, images, blobs, keptMs: config.uploadsDays * DAY_MS, clock, logger }),
    new RecordRetention({ registry, kept, clock, logger }),
  ];
  const webhooks = new WebhookDeliveries({ registry, bus, clock, logger, trustedOrigins: config.webhookUrls });
  metrics.addWebhooks({ counts: () => webhooks.counts, backlog: () => registry.webhooks.backlog() });
  const { approvals, mustBeSigned, verification } = config;
  const signals = new SignalsUpkeep({ registry, feed: bus.feed, verification, clock, logger });
  const aggregates = () => registry.measurements.aggregates(clock.now() - DAY_MS, MEASURED_PATHS_MAX);
  metrics.addSignals({ aggregates, restarts: () => signals.judged });
  const rules = { approvals, mustBeSigned, verification, downloadOrigin: pictures.downloadOrigin };
  const watched = new WatchedTools({ registry, bus, clock });
  const desired = new DesiredStateRunner({
    registry,
    bus,
    clock,
    logger,
    callRules,
    singleCalls,
    lease,
    ...rules,
    timeZone: config.timeZone,
    observe: metrics.desiredStates,
  });
  metrics.addDesiredStates(() => desired.counts());
  const worker = new TickWorker({
    registry,
    bus: observeJobCalls(
      bus,
      (...call) => metrics.callSettled(...call),
      (...call) => watched.called(...call),
      tracer,
    ),
    clock,
    logger,
    callRules,
    singleCalls,
    lease,
    approvals,
    mustBeSigned,
    verification,
    rollout: { store: registry.rollouts, limits: rolloutLimitsOf(config), urlOf: pictures.imageUrl },
    retention,
    webhooks,
    desired,
    alerts: await openAlertWorker(services, metrics),
    signals,
    recurring: new RecurringRuns({ registry, bus, clock, logger, callRules, ...rules }),
  });
  await worker.start();
  closers.add('worker', () => worker.stop());
  return worker;
}
