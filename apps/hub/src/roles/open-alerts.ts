/**
 * Alerts: the sender of messages, which API and worker share, and the worker that evaluates rules.
 */
import { AlertWorker, ChannelSender, shippedRules, type HubProblem, type MessageSettings } from '@flotilla/fleet';
import { answerOr } from '../answer-or.js';
import type { HubMetrics } from '../measures/metrics.js';
import type { HubConfig } from '../settings/config.js';
import { systemClock } from '../system-clock.js';
import type { SharedServices } from './shared-services.js';
import { WriterProblems } from './writer-problems.js';

export function openChannelSender({ closers, config }: Pick<SharedServices, 'closers' | 'config'>): ChannelSender {
  const sender = new ChannelSender({ trustedOrigins: config.webhookUrls, smtp: config.alerts.smtp });
  closers.add('sender of notifications', () => sender.close());
  return sender;
}

export function messageSettingsOf({ alerts, timeZone, publicUrl }: HubConfig): MessageSettings {
  return {
    language: alerts.language,
    timeZone,
    consoleUrl: publicUrl?.replace(/\/$/, ''),
  };
}

export async function openAlertWorker(services: SharedServices, metrics: HubMetrics): Promise<AlertWorker> {
  const { bus, config, lease, logger, registry } = services;
  const clock = systemClock;
  await registry.alertRules.ship(shippedRules, clock.now());
  const worker = new AlertWorker({
    registry,
    bus,
    clock,
    lease,
    logger,
    sender: openChannelSender(services),
    messages: messageSettingsOf(config),
    hubProblems: hubProblemsOf(services),
  });
  metrics.addAlerts({
    firing: () => registry.alerts.firingBySeverity(),
    counts: () => worker.counts,
    backlog: () => registry.notificationOutbox.backlog(clock.now()),
    roundMs: () => worker.roundMs,
  });
  return worker;
}

/** What does not work while the database does: an evaluation needs it. */
function hubProblemsOf({ blobs, bus, registry }: SharedServices): () => Promise<readonly HubProblem[]> {
  const writers = new WriterProblems();
  return async () => {
    const [isStored, depth, processes] = await Promise.all([
      answerOr(
        blobs.check().then(() => true),
        false,
      ),
      answerOr(bus.ticks.depth(), undefined),
      registry.processWriters(),
    ]);
    return [
      ...writers.among(processes, performance.now()),
      ...(isStored ? [] : [{ name: 'storage', reason: 'the file storage does not answer' }]),
      ...(depth === undefined ? [{ name: 'queue', reason: 'the queue does not answer' }] : []),
    ];
  };
}
