/** Each step of a job's life as an event, for people who watch and for webhooks. It is called what the audit trail calls it. */
import type { Bus } from '@flotilla/bus';
import type { Job } from '@flotilla/jobs';
import type { Registry } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';

export interface JobEventDeps {
  readonly registry: Pick<Registry, 'events'>;
  readonly bus: Pick<Bus, 'feed'>;
  readonly clock: Clock;
}

/** After the row was written. It is about no one device, so those who see a part of the fleet are not told. */
export function writeJobEvent({ bus, clock, registry }: JobEventDeps, type: string, job: Job): void {
  const { id, name, tool, state, conclusion, pauseReason } = job;
  const data = { jobId: id, name, tool, state, conclusion, pauseReason };
  bus.feed.publish('event', registry.events.append({ type, deviceId: undefined, at: clock.now(), data }));
}
