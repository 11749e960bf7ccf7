/** Audit entries of a job: one for its creation and one per transition. They cover its calls. */
import type { Job, JobState } from '@flotilla/jobs';
import type { AuditedChange } from '../../audit/audit-entry.js';
import type { EventType } from '../../events/event-types.js';
import type { NewJob } from './new-job.js';

export function jobCreated(job: NewJob): AuditedChange {
  const { id, name, tool, devices, offline, expiresAt, createdAt } = job;
  return {
    action: 'job.created',
    subject: subjectOf(id),
    data: { name, tool, arguments: job.arguments, devices, offline, expiresAt: new Date(expiresAt).toISOString() },
    at: createdAt,
  };
}

export function jobMoved(from: JobState, job: Job, reason: string | undefined, at: number): AuditedChange {
  const { id, tool, state, conclusion, pauseReason, version } = job;
  return {
    action: jobActionOf(from, job),
    subject: subjectOf(id),
    data: { tool, from, to: state, conclusion, pauseReason, reason, version },
    at,
  };
}

/** The action by its result, so that readers need no table of states. Events use the same names. */
export function jobActionOf(from: JobState, { state, conclusion }: Pick<Job, 'state' | 'conclusion'>): EventType {
  switch (state) {
    case 'AWAITING_APPROVAL':
      return 'job.approval_required';
    case 'SCHEDULED':
      return 'job.approved';
    case 'PREPARING':
      return from === 'AWAITING_APPROVAL' ? 'job.approved' : from === 'SCHEDULED' ? 'job.started' : 'job.resumed';
    case 'RUNNING':
      return from === 'PREPARING' ? 'job.prepared' : 'job.resumed';
    case 'PAUSED':
      return 'job.paused';
    case 'CANCELLING':
      return conclusion === 'CANCELLED' ? 'job.cancelled' : conclusion === 'ABORTED' ? 'job.aborted' : 'job.expired';
    case 'FINISHED':
      return conclusion === 'DENIED' ? 'job.denied' : 'job.finished';
  }
}

function subjectOf(id: string): string {
  return `job:${id}`;
}
