/** Decides what needs the attention of an operator. */
import { type StoppableJob, stopCause } from '../../parts/job/stop-cause';
import type { FailingWebhooksQuery, JobsEndedBadlyQuery } from './generated/overview';

type EndedJob = JobsEndedBadlyQuery['jobs']['nodes'][number];
type Webhook = FailingWebhooksQuery['webhooks'][number];

const badConclusions = ['FAILED', 'ABORTED', 'PARTIAL', 'EXPIRED'] as const;
type BadConclusion = (typeof badConclusions)[number];
type EndCheck = Pick<EndedJob, 'conclusion' | 'finishedAt'>;

/** `since`: ms since the Unix epoch. */
export function hasFailedSince<Job extends EndCheck>(
  job: Job,
  since: number,
): job is Job & { readonly conclusion: BadConclusion } {
  const isBad = badConclusions.some((conclusion) => conclusion === job.conclusion);
  return isBad && job.finishedAt !== null && Date.parse(job.finishedAt) > since;
}

/** Which sentence says how it ended. */
export function endOf(
  job: StoppableJob & { readonly conclusion: BadConclusion },
): BadConclusion | 'UNHEALTHY' | 'STOPPED' {
  if (job.conclusion !== 'ABORTED') return job.conclusion;
  const cause = stopCause(job);
  // A missing signature, or the hub hides the cause, as from limited keys.
  if (cause === undefined) return 'STOPPED';
  return cause === 'HEALTH_GATE' ? 'UNHEALTHY' : 'ABORTED';
}

/** A webhook that an operator has disabled does not count; one that the hub has stopped does. */
export function isFailing({
  enabled,
  failingSince,
  pausedAt,
}: Pick<Webhook, 'enabled' | 'failingSince' | 'pausedAt'>): boolean {
  return pausedAt !== null || (enabled && failingSince !== null);
}
