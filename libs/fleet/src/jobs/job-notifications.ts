/**
 * Notifications of a job: for subscribers and workers that it changed, for people and webhooks each
 * step.
 */
import type { Bus } from '@flotilla/bus';
import type { JobId } from '@flotilla/mcp';
import type { EventRow } from '@flotilla/registry';
import type { FleetLogger } from '../fleet-logger.js';

export interface AnnounceDeps {
  readonly bus: Pick<Bus, 'feed' | 'ticks'>;
  readonly logger: FleetLogger;
}

/** Notifies subscribers through the feed and a worker through the queue. Both may be lost. */
export function announceJob({ bus, logger }: AnnounceDeps, jobId: JobId): void {
  bus.feed.publish('job', { jobId });
  bus.ticks.add({ kind: 'job', jobId }).catch((error: unknown) => {
    logger.warn({ err: error, jobId }, 'could not queue a tick; the next sweep finds the job');
  });
}

/** Announces the stored events of a change. */
export function publishEvents({ bus }: { readonly bus: Pick<Bus, 'feed'> }, events: readonly EventRow[]): void {
  for (const event of events) bus.feed.publish('event', event);
}
