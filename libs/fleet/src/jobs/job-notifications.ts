/**
 * Notifications of a job: for subscribers and workers that it changed, for people and webhooks each
 * step.
 */
import type { Bus } from '@flotilla/bus';
import type { Job, TrippedHealthGate } from '@flotilla/jobs';
import type { JobId } from '@flotilla/mcp';
import type { Registry } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
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

export interface JobEventDeps {
  readonly registry: Pick<Registry, 'events'>;
  readonly bus: Pick<Bus, 'feed'>;
  readonly clock: Clock;
}

/** The health gate of a roll-out stopped it. */
export function writeHealthEvent(
  { bus, clock, registry }: JobEventDeps,
  { id, healthGate }: Job,
  { version, restarts, deviceHours, baselineRestarts, baselineDeviceHours }: TrippedHealthGate,
): void {
  const counts = { version, restarts, deviceHours, baselineRestarts, baselineDeviceHours };
  const data = { jobId: id, ...counts, action: healthGate?.action ?? 'PAUSE' };
  const event = { type: 'job.stopped_by_health_gate', deviceId: undefined, at: clock.now(), data };
  bus.feed.publish('event', registry.events.append(event));
}

/**
 * Records a step after its row was written, under the name that the audit trail uses.
 * It concerns no single device, so keys that see a part of the fleet do not get it.
 */
export function writeJobEvent({ bus, clock, registry }: JobEventDeps, type: string, job: Job): void {
  const { id, name, tool, state, conclusion, pauseReason } = job;
  const data = { jobId: id, name, tool, state, conclusion, pauseReason };
  bus.feed.publish('event', registry.events.append({ type, deviceId: undefined, at: clock.now(), data }));
}
