/**
 * The states of a job as a table: which trigger moves it where. Any other trigger changes nothing,
 * so repeating one is harmless.
 */
import type { Job, JobState } from './job-types.js';

export type JobTrigger =
  /** Another person approved it. */
  | 'approve'
  | 'deny'
  /** `startAt` has come. */
  | 'start'
  /** The target set is complete and counted. */
  | 'prepared'
  /** By an operator, a gate, a rule, or because the window closed: the row keeps the reason. */
  | 'pause'
  | 'resume'
  /** By an operator or a rule. */
  | 'cancel'
  /** `expiresAt` has passed. */
  | 'expire'
  /** Every target has an outcome. */
  | 'decided';

const next: Readonly<Record<JobState, Partial<Readonly<Record<JobTrigger, JobState>>>>> = {
  AWAITING_APPROVAL: { approve: 'PREPARING', deny: 'FINISHED', cancel: 'CANCELLING', expire: 'CANCELLING' },
  SCHEDULED: { start: 'PREPARING', cancel: 'CANCELLING', expire: 'CANCELLING' },
  PREPARING: { prepared: 'RUNNING', pause: 'PAUSED', cancel: 'CANCELLING', expire: 'CANCELLING' },
  RUNNING: { pause: 'PAUSED', cancel: 'CANCELLING', expire: 'CANCELLING', decided: 'FINISHED' },
  PAUSED: { resume: 'RUNNING', cancel: 'CANCELLING', expire: 'CANCELLING', decided: 'FINISHED' },
  CANCELLING: { decided: 'FINISHED' },
  FINISHED: {},
};

type MovedJob = Pick<Job, 'state' | 'total'> & Partial<Pick<Job, 'startAt'>>;

/**
 * The state that the trigger moves the job to; undefined where it changes nothing. A job that was
 * paused during preparation continues preparing; an approved one waits for its start.
 */
export function nextJobState(job: MovedJob, trigger: JobTrigger): JobState | undefined {
  const state = next[job.state][trigger];
  if (trigger === 'resume' && state === 'RUNNING' && job.total === undefined) return 'PREPARING';
  if (trigger === 'approve' && state === 'PREPARING' && job.startAt !== undefined) return 'SCHEDULED';
  return state;
}
