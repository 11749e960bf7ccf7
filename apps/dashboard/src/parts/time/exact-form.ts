/** How much of an exact time a column shows. The tooltip has all of it. */
type ExactForm = 'today' | 'recent' | 'old';

/** Ms, about eleven months: until then, a month and a day mean one day only. */
const recentMs = 330 * 86_400_000;

/** Of today the time alone, of the last months without the year, and before that with it. */
export function exactForm(moment: Date, now: Date): ExactForm {
  if (moment.toDateString() === now.toDateString()) return 'today';
  return Math.abs(now.getTime() - moment.getTime()) < recentMs ? 'recent' : 'old';
}
