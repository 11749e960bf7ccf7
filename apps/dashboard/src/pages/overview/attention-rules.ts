/** Decides what needs the attention of an operator. */
import type { FailingWebhooksQuery, JobsNowQuery } from './generated/overview';

type LiveJob = JobsNowQuery['live']['nodes'][number];
type EndedJob = JobsNowQuery['ended']['nodes'][number];
type Webhook = FailingWebhooksQuery['webhooks'][number];

const badConclusions: readonly unknown[] = ['FAILED', 'ABORTED', 'PARTIAL', 'EXPIRED'];

/** A job outside its hours continues automatically, so it waits for no person. */
export function waitsForPerson({ state, pauseReason }: Pick<LiveJob, 'state' | 'pauseReason'>): boolean {
  return state === 'AWAITING_APPROVAL' || (state === 'PAUSED' && pauseReason !== 'WINDOW_CLOSED');
}

/** `since`: ms since the Unix epoch. */
export function hasFailedSince(
  { conclusion, finishedAt }: Pick<EndedJob, 'conclusion' | 'finishedAt'>,
  since: number,
): boolean {
  return badConclusions.includes(conclusion) && finishedAt !== null && Date.parse(finishedAt) > since;
}

/** A webhook that an operator has disabled does not count; one that the hub has stopped does. */
export function isFailing({
  enabled,
  failingSince,
  pausedAt,
}: Pick<Webhook, 'enabled' | 'failingSince' | 'pausedAt'>): boolean {
  return pausedAt !== null || (enabled && failingSince !== null);
}
