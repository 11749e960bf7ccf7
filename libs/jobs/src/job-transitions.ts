/** The states of a job as a table: what moves it where. An event that means nothing in a state changes nothing, so that repeating one is harmless. */
import type { Job, JobState } from './job-types.js';

export type JobEvent =
  /** The target set is complete and counted. */
  | 'prepared'
  | 'pause'
  | 'resume'
  | 'cancel'
  /** `expiresAt` has passed. */
  | 'expire'
  /** Every target has an outcome. */
  | 'decided';

const next: Readonly<Record<JobState, Partial<Readonly<Record<JobEvent, JobState>>>>> = {
  AWAITING_APPROVAL: { cancel: 'CANCELLING', expire: 'CANCELLING' },
  SCHEDULED: { cancel: 'CANCELLING', expire: 'CANCELLING' },
  PREPARING: { prepared: 'RUNNING', pause: 'PAUSED', cancel: 'CANCELLING', expire: 'CANCELLING' },
  RUNNING: { pause: 'PAUSED', cancel: 'CANCELLING', expire: 'CANCELLING', decided: 'FINISHED' },
  PAUSED: { resume: 'RUNNING', cancel: 'CANCELLING', expire: 'CANCELLING', decided: 'FINISHED' },
  CANCELLING: { decided: 'FINISHED' },
  FINISHED: {},
};

/** The state that the event moves the job to, or undefined where it changes nothing. A job paused while it was being prepared resumes preparing. */
export function nextJobState(job: Pick<Job, 'state' | 'total'>, event: JobEvent): JobState | undefined {
  const state = next[job.state][event];
  return state === 'RUNNING' && event === 'resume' && job.total === undefined ? 'PREPARING' : state;
}
