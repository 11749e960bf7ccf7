/** Tells everybody that a job was made or moved: subscribers through the feed, a worker through the queue. Nobody has to hear it. */
import type { Bus } from '@flotilla/bus';
import type { JobId } from '@flotilla/mcp';
import type { FleetLogger } from '../fleet-logger.js';

export interface AnnounceDeps {
  readonly bus: Pick<Bus, 'feed' | 'ticks'>;
  readonly logger: FleetLogger;
}

export function announceJob({ bus, logger }: AnnounceDeps, jobId: JobId): void {
  bus.feed.publish('job', { jobId });
  bus.ticks.add({ kind: 'job', jobId }).catch((error: unknown) => {
    logger.warn({ err: error, jobId }, 'could not queue a tick; the next sweep finds the job');
  });
}
