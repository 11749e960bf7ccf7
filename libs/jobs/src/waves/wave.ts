/** The waves of a job: as requested, and as they went. [jobs §13] */

/**
 * The wave number of targets that ended when they were prepared, such as those without the tool. It
 * is not a wave: they are not evidence for rules, gates or the pace.
 */
export const preparedWave = 0;

/** Whether the step to the next wave is made by itself or waits for an operator. */
type WaveGate = 'AUTO' | 'MANUAL';

/** Gate, threshold and soak guard the step to the next wave. */
interface WaveGuard {
  /** Successes among the decided targets that are not neutral, 0 to 1. */
  readonly successThreshold: number;
  /** Quiet time after the wave's last decision, in which its devices may still fail. */
  readonly soakSeconds: number;
  readonly gate: WaveGate;
}

/** A wave as it was asked for: it ends at a percentage of all targets, or has so many. */
export type WaveSpec = WaveGuard &
  ({ readonly percent: number; readonly count?: never } | { readonly count: number; readonly percent?: never });

/** A wave of a job whose target set is frozen. Times are ms since the Unix epoch. */
export interface Wave extends WaveGuard {
  /** From 1 on. */
  readonly number: number;
  readonly size: number;
  readonly openedAt: number | undefined;
  /** When the step to the next wave was made. */
  readonly closedAt: number | undefined;
  /** Who let the next wave go where an operator did. */
  readonly approvedBy: string | undefined;
}
