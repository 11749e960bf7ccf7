/** Events of a job: one for its creation and one per transition, named like its audit entries. */
import type { Job, JobState, TrippedHealthGate } from '@flotilla/jobs';
import type { NewEvent } from '../../events/event-store.js';
import type { EventType } from '../../events/event-types.js';
import { jobActionOf } from './job-audit.js';

export function createdEvent(job: Job): NewEvent {
  return stepEvent('job.created', job, job.createdAt);
}

/** `tripped`: the health gate that caused the transition. */
export function movedEvents(
  from: JobState,
  job: Job,
  tripped: TrippedHealthGate | undefined,
  at: number,
): readonly NewEvent[] {
  const step = stepEvent(jobActionOf(from, job), job, at);
  return tripped === undefined ? [step] : [step, healthEvent(job, tripped, at)];
}

/** Of no single device, so keys that see a part of the fleet do not get it. */
function stepEvent(type: EventType, job: Job, at: number): NewEvent {
  const { id, name, tool, state, conclusion, pauseReason } = job;
  return { type, deviceId: undefined, at, data: { jobId: id, name, tool, state, conclusion, pauseReason } };
}

function healthEvent({ id, healthGate }: Job, tripped: TrippedHealthGate, at: number): NewEvent {
  const { version, restarts, deviceHours, baselineRestarts, baselineDeviceHours } = tripped;
  const counts = { version, restarts, deviceHours, baselineRestarts, baselineDeviceHours };
  const data = { jobId: id, ...counts, action: healthGate?.action ?? 'PAUSE' };
  return { type: 'job.stopped_by_health_gate', deviceId: undefined, at, data };
}
