/** Bounds of roll-outs, with unit and reason. */
import { downloadLoop } from '@flotilla/firmware';
import type { RolloutLimits } from '@flotilla/registry';

export const defaultRolloutLimits: RolloutLimits = {
  downloadsMax: 50,
  /** A device that has a bad network comes late. */
  grantMs: 20 * 60_000,
  stallMs: 60_000,
  loopDownloads: downloadLoop.downloads,
  loopWindowMs: downloadLoop.windowMs,
};
