/**
 * The progress of a job, its rate and its estimated end, from its counters and its running time.
 */
import { emptyProgress, successShare } from '@flotilla/jobs';
import type { Job, JobProgress, Wave } from '@flotilla/jobs';

export interface JobPace {
  /** Called targets that ended, per minute, over the whole run. */
  readonly ratePerMinute: number;
  /**
   * Ms since the Unix epoch. Undefined if the job is not running, has no rate yet, or waits for
   * devices.
   */
  readonly estimatedFinishAt: number | undefined;
}

/** A wave with how far it is. */
export interface WaveView extends Wave {
  readonly decided: number;
  readonly succeeded: number;
  /** As its gate compares it with the threshold; undefined before there is one. */
  readonly successShare: number | undefined;
}

export function waveView(wave: Wave, progress: JobProgress = emptyProgress): WaveView {
  const { total, pending, waitingDevice, inFlight, verifying, succeeded } = progress;
  const decided = total - pending - waitingDevice - inFlight - verifying;
  return { ...wave, decided, succeeded, successShare: successShare(progress) };
}

/** Below this a rate is noise, ms. */
const runMsMin = 100;

/** A target that ends without a call, as for a missing tool, ends at once: the others do not. */
export function paceOf(
  job: Pick<Job, 'state' | 'startedAt' | 'finishedAt'> & Partial<Pick<Job, 'firmwareImageId'>>,
  progress: JobProgress,
  now: number,
): JobPace {
  const underWay = progress.pending + progress.inFlight + progress.verifying;
  const runMs = job.startedAt === undefined ? 0 : (job.finishedAt ?? now) - job.startedAt;
  const { succeeded, failed, noChange, unknown, verifyFailed } = progress;
  // Of a roll-out, NO_CHANGE is known of the version; else the value was read.
  const ended = succeeded + failed + verifyFailed + unknown + (job.firmwareImageId === undefined ? noChange : 0);
  if (ended === 0 || runMs < runMsMin) return { ratePerMinute: 0, estimatedFinishAt: undefined };
  const perMs = ended / runMs;
  const isMoving = job.state === 'RUNNING' && underWay > 0;
  return { ratePerMinute: perMs * 60_000, estimatedFinishAt: isMoving ? now + underWay / perMs : undefined };
}
