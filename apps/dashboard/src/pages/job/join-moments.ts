/** The past of a job and what was watched of it, in one line. Knows nothing of the page. */
export const decidedCounts = [
  'succeeded',
  'noChange',
  'failed',
  'rejected',
  'verifyFailed',
  'unknown',
  'expired',
  'cancelled',
  'skipped',
] as const;

export type DecidedCounts = Readonly<Record<(typeof decidedCounts)[number], number>>;

export interface Moment extends DecidedCounts {
  /** RFC 3339. */
  readonly at: string;
}

/** At two a second this is five minutes; older ones are thinned out then. */
const momentsMax = 600;

/** Ms between two news of a job, at least. */
const newsMs = 500;

/**
 * What `later` adds to `earlier`, without moments at which nothing changed. A decided target stays
 * decided, so a moment with fewer of them is an older one that arrived late.
 */
export function joined(earlier: readonly Moment[], later: readonly Moment[]): readonly Moment[] {
  let last = earlier.at(-1);
  const added: Moment[] = [];
  for (const seen of later) {
    if (last && (decidedIn(seen) < decidedIn(last) || isSame(seen, last))) continue;
    // The clocks of browser and hub differ, but counts that grew are later.
    const moment: Moment = last && Date.parse(seen.at) < Date.parse(last.at) ? { ...seen, at: last.at } : seen;
    // News come when something changes: until just before, all was as it had been.
    if (last && Date.parse(moment.at) - Date.parse(last.at) > 2 * newsMs)
      added.push({ ...last, at: new Date(Date.parse(moment.at) - newsMs).toISOString() });
    last = moment;
    added.push(moment);
  }
  const all = added.length === 0 ? earlier : [...earlier, ...added];
  return all.length <= momentsMax ? all : all.filter((_, index) => index % 2 === 0 || index === all.length - 1);
}

function decidedIn(moment: Moment): number {
  return decidedCounts.reduce((sum, name) => sum + moment[name], 0);
}

function isSame(one: Moment, other: Moment): boolean {
  return decidedCounts.every((name) => one[name] === other[name]);
}
