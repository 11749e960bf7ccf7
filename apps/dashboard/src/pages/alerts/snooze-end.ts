/** The end of a snooze, as the console sends it to the hub. */

/** The length of a snooze, ms. */
const snoozeMs = 2 * 3_600_000;

/** RFC 3339. A snooze that ends now ended in 1970, because the clock of the viewer may be ahead. */
export function snoozeEnd(isSnoozed: boolean, now: number): string {
  return new Date(isSnoozed ? 0 : now + snoozeMs).toISOString();
}
