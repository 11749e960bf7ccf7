/**
 * Everything that the run of one job remembers: one immutable value, which only `step` changes.
 * Times are ms since the Unix epoch.
 */
import type { CallId, CallOutcomeKind } from '@flotilla/mcp';
import type { Job, JobProgress, JobState } from '../job-types.js';
import { startPace } from '../pace/pace-state.js';
import type { PaceState } from '../pace/pace-state.js';
import type { WindowState } from '../schedule/window-at.js';
import type { VerificationTimes } from '../verification/verification-times.js';
import type { Wave } from '../waves/wave.js';
import type { RunTask, StuckDevice } from './run-input.js';

/** Longest sleep, ms: how late a change is noticed where its notification was lost. */
export const sleepMsMax = 1_000;
/**
 * Free slots wait this long for more, ms: a commit per slot is expensive, and so are idle devices.
 */
export const gatherSlotsMs = 20;
/** Ends that may wait for PostgreSQL before the run claims nothing more: a second of work. */
export const unwrittenMax = 10_000;
/** Calls that are unanswered for so long, ms, are marked SENT, so that readers see them. */
export const markSentAfterMs = 1_000;
/** Between two checks of everything, ms: the notification of a returning device may be lost. */
export const checkAllMs = 5_000;
/** Between two counts of the rows, ms: a counter that drifted would keep the job open. [jobs §9] */
export const recountMs = 300_000;

/** Settings that are the same for all jobs of a process. */
interface RunRules {
  readonly verification: VerificationTimes;
  /** How long a wave waits for devices that are offline, ms. */
  readonly stragglerAfterMs: number;
}

/** What each claimed target, or each read of a value, takes from `maxInFlight`. */
interface RunSlots {
  /** Claimed targets without an end. */
  readonly claimed: number;
  /** Slots of calls that a gateway was too busy for: a busy gateway slows the job down. */
  readonly resting: number;
  readonly reading: number;
}

type LateAnswers = ReadonlyMap<CallId, CallOutcomeKind>;

/** The look that is under way: when it began, and how many targets were in VERIFYING. */
interface Look {
  readonly from: number;
  readonly count: number;
  readonly isOneMoreExpected: boolean;
  readonly lateAnswers: LateAnswers;
}

export interface VerifyingState {
  /** Whether any target may be in VERIFYING. */
  readonly isAnyExpected: boolean;
  readonly lookAt: number;
  /** Answers of calls that were given up, until the next look. Most are of other jobs. */
  readonly lateAnswers: LateAnswers;
  readonly isReadEndWaiting: boolean;
  readonly look: Look | undefined;
  /** Devices to restart once the failures of their upgrades are written. */
  readonly stuck: readonly StuckDevice[];
}

export interface RunState {
  readonly rules: RunRules;
  readonly job: Job;
  /** Another process may have changed the row. */
  readonly isRowStale: boolean;
  readonly rowReadAt: number;
  /** The last state that the run has entered: `enter` resets what it knew in the one before. */
  readonly enteredState: JobState | undefined;
  readonly task: RunTask['kind'] | undefined;
  /** `IDLE`: nothing is to be done; `SHORT`: a claim is only some milliseconds away. */
  readonly sleep: 'IDLE' | 'SHORT' | undefined;
  /** The process stops: nothing more is sent, and the run ends once all calls have ended. */
  readonly isStopping: boolean;
  readonly isEnded: boolean;
  readonly imageBytes: number | undefined;

  /** Whether a claim could find something. */
  readonly mayHaveReady: boolean;
  /** Whether the totals are worth reading: all targets may be decided, or a claim may be lost. */
  readonly isEndPossible: boolean;
  /** Whether the counters changed, and may ask for a stop or for the next wave. */
  readonly areWaveCountersDue: boolean;
  /** When the gate of the open wave is judged again without a new end. */
  readonly gateAt: number;
  /** When the first target that waits for a retry is due. */
  readonly retryAt: number;
  readonly checkAllAt: number;
  readonly recountAt: number;
  /** When the restarts of a roll-out are looked at again. */
  readonly healthAt: number;
  /** Until when the job is watched after its last decision; undefined before that is known. */
  readonly endAt: number | undefined;
  readonly markSentAt: number;

  readonly waves: readonly Wave[];
  /** Whether targets of an open wave may still be PENDING. */
  readonly isOpening: boolean;
  /** Progress of the open wave while the run reads when its last target was decided. */
  readonly gateProgress: JobProgress | undefined;
  readonly window: WindowState | undefined;
  readonly pace: PaceState;

  readonly slots: RunSlots;
  /** Claimed batches that are not sent completely. */
  readonly batches: number;
  /** Ends of targets that are not in PostgreSQL yet. */
  readonly unwritten: { readonly count: number; readonly failures: number };
  /** Claims in a row that found nothing although something was ready. */
  readonly emptyClaims: number;
  /** No claim is made before. */
  readonly claimAt: number;
  /** Until when the free slots wait for more of them. */
  readonly gatherUntil: number | undefined;
  readonly verifying: VerifyingState;
  /** Progress with which the job can finish, once the rows are counted. */
  readonly finalProgress: JobProgress | undefined;
  /** What was done since the last sleep or claim, and is not repeated before the next. */
  readonly round: RunRound;
}

interface RunRound {
  readonly hasLooked: boolean;
  readonly hasOpened: boolean;
  readonly hasEnded: boolean;
  readonly hasForced: boolean;
}

export const newRound: RunRound = { hasLooked: false, hasOpened: false, hasEnded: false, hasForced: false };

export function startRun(rules: RunRules, job: Job, now: number): RunState {
  return {
    rules,
    job,
    isRowStale: false,
    rowReadAt: now,
    enteredState: undefined,
    task: undefined,
    sleep: undefined,
    isStopping: false,
    isEnded: false,
    imageBytes: undefined,
    mayHaveReady: true,
    isEndPossible: true,
    areWaveCountersDue: true,
    gateAt: Infinity,
    retryAt: -Infinity,
    checkAllAt: -Infinity,
    recountAt: now + recountMs,
    markSentAt: -Infinity,
    healthAt: -Infinity,
    endAt: undefined,
    waves: [],
    isOpening: true,
    gateProgress: undefined,
    window: undefined,
    pace: startPace(now),
    slots: { claimed: 0, resting: 0, reading: 0 },
    batches: 0,
    unwritten: { count: 0, failures: 0 },
    emptyClaims: 0,
    claimAt: -Infinity,
    gatherUntil: undefined,
    verifying: {
      isAnyExpected: job.verification !== 'NONE',
      lookAt: -Infinity,
      lateAnswers: new Map(),
      isReadEndWaiting: false,
      look: undefined,
      stuck: [],
    },
    finalProgress: undefined,
    round: newRound,
  };
}

/** Whether targets may be sent: the last question before the bytes. */
export function maySend({ enteredState, isStopping, isEnded }: RunState): boolean {
  return enteredState === 'RUNNING' && !isStopping && !isEnded;
}

/** Whether preparation may go on with its next chunk. */
export function mayPrepare({ isRowStale, isStopping, isEnded }: RunState): boolean {
  return !isRowStale && !isStopping && !isEnded;
}

export function slotsTaken({ slots }: RunState): number {
  return slots.claimed + slots.resting + slots.reading;
}

/** Nothing is in flight or unwritten: memory agrees with PostgreSQL. */
export function isIdle({ slots, unwritten, batches }: RunState): boolean {
  return slots.claimed === 0 && unwritten.count === 0 && batches === 0;
}
