/** The daily window of a desired state, in its own zone or in that of each device. */
import { windowAt } from '@flotilla/jobs';
import type { WindowState } from '@flotilla/jobs';

export interface DesiredWindow {
  /** HH:MM. */
  readonly from: string;
  /** HH:MM; before `from`: on the next day. */
  readonly to: string;
  /** IANA name; undefined: the zone of the device. */
  readonly zone?: string | undefined;
  /** Days on which it opens, 1 (Monday) to 7. */
  readonly days?: readonly number[] | undefined;
}

/** Undefined where it always applies. */
export function desiredWindowAt(
  window: DesiredWindow | undefined,
  deviceZone: string,
  now: number,
): WindowState | undefined {
  if (window === undefined) return undefined;
  const { from, to, zone, days } = window;
  return windowAt({ from, to, zone: zone ?? deviceZone, ...(days === undefined ? {} : { days }) }, now);
}
