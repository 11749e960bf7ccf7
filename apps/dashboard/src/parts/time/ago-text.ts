/** How long ago a moment was, or how long until it, in words. */
import { timeAgo } from './time-ago';

/** `ms` may be negative. */
export function agoText(ms: number, language: string): string {
  const [count, unit] = timeAgo(ms);
  const { now, distance } = formatsOf(language);
  return count === 0 ? now.format(0, 'second') : distance.format(count, unit);
}

/** Words such as "yesterday" name a day of the calendar, and not a distance of 24 hours. */
function makeFormats(language: string) {
  return {
    now: new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' }),
    distance: new Intl.RelativeTimeFormat(language, { numeric: 'always', style: 'short' }),
  };
}

/** Created once per language, because creating a formatter takes longer than drawing a row. */
const formats = new Map<string, ReturnType<typeof makeFormats>>();

function formatsOf(language: string): ReturnType<typeof makeFormats> {
  const known = formats.get(language) ?? makeFormats(language);
  formats.set(language, known);
  return known;
}
