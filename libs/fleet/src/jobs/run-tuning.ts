/** Times and bounds of running jobs that are nobody's setting, in one place so that specs can shorten them. */
import { stragglerAfterMsDefault } from '@flotilla/jobs';

export interface RunTuning {
  /** Calls in flight over all jobs of this process. Single calls have no such bound: what jobs leave free is theirs. */
  readonly jobsInFlightMax: number;
  /** How long a wave waits for devices that are away, ms. */
  readonly stragglerAfterMs: number;
  /** How long an answer that came too late waits for its target to be given up, ms: longer than a flush. */
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
