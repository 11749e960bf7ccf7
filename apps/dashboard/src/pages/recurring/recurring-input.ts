/** The input of a schedule, from a query: the API returns the job in the shape of its input. */
import type { RecurringJobCardFragment, RecurringJobInput } from './generated/recurring';

export function inputOfCard(card: RecurringJobCardFragment): RecurringJobInput {
  const { name, cron, timeZone, job, missed, overlap, until, enabled } = card;
  return { name, cron, timeZone, job: job as RecurringJobInput['job'], missed, overlap, until, enabled };
}

/** What a form has changed. The rest may have been changed by others since the form was opened. */
export function changesOf<Fields extends object>(opened: Fields, edited: Fields): Partial<Fields> {
  const names = Object.keys(edited) as (keyof Fields)[];
  return Object.fromEntries(
    names.flatMap((name) => (edited[name] === opened[name] ? [] : [[name, edited[name]]])),
  ) as Partial<Fields>;
}
