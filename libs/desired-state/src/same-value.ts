import { isSame } from '@flotilla/jobs';

/** Whether the reported value is the desired one; numbers may differ by the tolerance. */
export function isSameValue(reported: unknown, desired: unknown, tolerance: number): boolean {
  return isSame(reported, desired, tolerance);
}
