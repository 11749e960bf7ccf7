/**
 * Times and bounds of running jobs that are not settings, in one place so that specs can shorten
 * them.
 */
import { stragglerAfterMsDefault } from '@flotilla/jobs';

export interface RunTuning {
  /** Calls in flight over all jobs of this process. Single calls have no such bound. */
  readonly jobsInFlightMax: number;
  /** How long a wave waits for devices that are away, ms. */
  readonly stragglerAfterMs: number;
  /** How long a late answer waits for its target to end, ms: longer than a flush. */
  readonly lateAnswerMs: number;
  /** Evenly distributed from 0 to 1. */
  readonly chance: () => number;
}

export const defaultTuning: RunTuning = {
  // Four fifths of the 10,000 answers that one process is measured to wait for.
  jobsInFlightMax: 8_000,
  stragglerAfterMs: stragglerAfterMsDefault,
  lateAnswerMs: 500,
  chance: Math.random,
};
