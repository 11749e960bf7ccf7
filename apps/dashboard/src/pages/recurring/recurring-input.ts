/** The input of a schedule, from a query: the API returns the job in the shape of its input. */
import type { RecurringJobCardFragment, RecurringJobInput } from './generated/recurring';

export function inputOfCard(card: RecurringJobCardFragment): RecurringJobInput {
  const { name, cron, timeZone, job, missed, overlap, until, enabled } = card;
  return { name, cron, timeZone, job: job as RecurringJobInput['job'], missed, overlap, until, enabled };
}
