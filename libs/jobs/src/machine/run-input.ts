/** What happens to the run of a job, and what the run wants done: the two ends of `step`. */
import type { CallId, CallOutcomeKind, DeviceId, HubProcessId } from '@flotilla/mcp';
import type { TrippedRule } from '../abort/abort-rule.js';
import type { HealthEvidence, TrippedHealthGate } from '../health/health-gate.js';
import type { Job, JobConclusion, JobProgress, JobState, PauseReason } from '../job-types.js';
import type { VerificationEnd, VerifyingTarget } from '../verification/verification-end.js';
import type { VerificationDeadlines } from '../verification/verification-times.js';
import type { Wave } from '../waves/wave.js';

/** Work that the shell does for the run: one task at a time, each answered by its report. */
export type RunTask =
  | { readonly kind: 'readImageSize' }
  /** Classifies the targets that a former owner, or a lost claim, left in flight. */
  | { readonly kind: 'recover'; readonly deadlines: VerificationDeadlines }
  | { readonly kind: 'extendVerifications'; readonly until: number }
  | { readonly kind: 'readJob' }
  | { readonly kind: 'moveJob'; readonly move: RunMove }
  | { readonly kind: 'prepare' }
  /** Progress by wave and, where asked for, overdue targets and the waves themselves. */
  | { readonly kind: 'readWaveCounters'; readonly withOverdue: boolean; readonly withWaves: boolean }
  /** Of the wave; of all waves without one. */
  | { readonly kind: 'readLastDecision'; readonly wave: number | undefined }
  /** Reads the restarts of the roll-out since its start, or since its gate stopped it. */
  | { readonly kind: 'readHealth' }
  /** Closes wave `from` and opens the next one. */
  | { readonly kind: 'openWave'; readonly from: number }
  | { readonly kind: 'openTargets' }
  | { readonly kind: 'releaseRetries' }
  | { readonly kind: 'claim'; readonly limit: number }
  | { readonly kind: 'readPending' }
  | { readonly kind: 'markSent' }
  | { readonly kind: 'endNeverSent'; readonly outcome: 'CANCELLED' | 'EXPIRED' }
  | { readonly kind: 'endInFlight' }
  | { readonly kind: 'readTotals' }
  | { readonly kind: 'countRows' }
  /** Reads the targets that can be judged, and those of late answers. */
  | { readonly kind: 'readVerifying'; readonly callIds: readonly CallId[] }
  | { readonly kind: 'writeVerifications'; readonly ends: readonly VerificationEnd[] }
  | { readonly kind: 'writeReadEnds' }
  | { readonly kind: 'beginReads'; readonly limit: number };

/** A transition of the job that the run wants, with the reason that its row keeps. */
export interface RunMove {
  readonly state: JobState;
  readonly pauseReason?: PauseReason | undefined;
  readonly conclusion?: JobConclusion | undefined;
  readonly trippedRule?: TrippedRule;
  readonly trippedHealthGate?: TrippedHealthGate;
  /** The wave whose gate holds the job, and why: for the log. */
  readonly gate?: { readonly wave: number; readonly because: 'MANUAL' | 'THRESHOLD' };
}

/** The answer to a task. */
export type TaskReport =
  | { readonly kind: 'imageSizeRead'; readonly bytes: number | undefined }
  | { readonly kind: 'recovered'; readonly count: number; readonly verifying: number }
  | { readonly kind: 'verificationsExtended' }
  | { readonly kind: 'jobRead'; readonly job: Job }
  /** No job: another process moved it first. */
  | { readonly kind: 'jobMoved'; readonly job: Job | undefined }
  | { readonly kind: 'prepared'; readonly isComplete: boolean }
  | {
      readonly kind: 'waveCountersRead';
      readonly byWave: ReadonlyMap<number, JobProgress>;
      readonly overdue: ReadonlyMap<number, number>;
      readonly waves: readonly Wave[];
    }
  | { readonly kind: 'lastDecisionRead'; readonly at: number | undefined }
  /** Undefined where the image was deleted. */
  | { readonly kind: 'healthRead'; readonly evidence: HealthEvidence | undefined }
  | { readonly kind: 'waveOpened' }
  | { readonly kind: 'targetsOpened'; readonly count: number }
  | { readonly kind: 'retriesReleased'; readonly count: number; readonly nextAt: number | undefined }
  /** Undefined: other jobs have all slots, or other devices all downloads. */
  | { readonly kind: 'claimed'; readonly count: number | undefined }
  | { readonly kind: 'pendingRead'; readonly byWave: ReadonlyMap<number, JobProgress> }
  | { readonly kind: 'sentMarked' }
  | { readonly kind: 'neverSentEnded'; readonly count: number }
  | { readonly kind: 'inFlightEnded'; readonly count: number }
  | { readonly kind: 'totalsRead'; readonly progress: JobProgress }
  | { readonly kind: 'rowsCounted'; readonly drift: number }
  | {
      readonly kind: 'verifyingRead';
      /** All targets in VERIFYING. */
      readonly count: number;
      /** Those that can be judged, and those of the late answers. */
      readonly targets: readonly VerifyingTarget[];
    }
  | { readonly kind: 'verificationsWritten'; readonly moved: ReadonlySet<DeviceId>; readonly isSomeReady: boolean }
  | { readonly kind: 'readsBegun'; readonly isMoreDue: boolean };

/** What happens at any time, whether a task is running or not. */
export type RunSignal =
  | { readonly kind: 'started' }
  /** The process stops. */
  | { readonly kind: 'stop' }
  /** The sleep that the run asked for is over. */
  | { readonly kind: 'timePassed' }
  | { readonly kind: 'rowChanged' }
  /** Undefined: there are too many to name. */
  | { readonly kind: 'devicesReturned'; readonly deviceIds: readonly DeviceId[] | undefined }
  | { readonly kind: 'devicesWoken'; readonly count: number }
  | { readonly kind: 'lateAnswer'; readonly callId: CallId; readonly outcome: CallOutcomeKind }
  /** Slots that other jobs had are set aside for this job. */
  | { readonly kind: 'slotsGranted' }
  /** A claimed target has an end to write; `restMs`: its slot stays taken for so long. */
  | { readonly kind: 'targetEnded'; readonly isFailure: boolean; readonly restMs: number | undefined }
  | { readonly kind: 'restEnded' }
  /** Each target of a claimed batch was sent or put back, but for `unsent` after a failure. */
  | { readonly kind: 'batchSent'; readonly unsent: number }
  | { readonly kind: 'readBegan' }
  | { readonly kind: 'readEnded' }
  /** Judged reads wait to be written. */
  | { readonly kind: 'readEndsWait' }
  | { readonly kind: 'flushed'; readonly flushed: FlushedBatch };

/** Ends that one statement has written. */
export interface FlushedBatch {
  readonly count: number;
  readonly failures: number;
  readonly isSomeReady: boolean;
  readonly isSomeVerifying: boolean;
  /** When the first retry of the batch is due, ms since the Unix epoch; Infinity without one. */
  readonly retryAt: number;
}

export type RunInput = (RunSignal | TaskReport) & {
  readonly now: number;
  /** Targets that one statement may move at present. */
  readonly rowsMax: number;
};

export type RunEffect =
  | RunTask
  /** Until the time has passed, or an input wakes the run. */
  | { readonly kind: 'sleep'; readonly ms: number }
  /** Hands the batch that was claimed to its gateways. */
  | { readonly kind: 'send' }
  /** Begins to write the ends that wait. */
  | { readonly kind: 'flush' }
  /** Notifies subscribers that counters moved. */
  | { readonly kind: 'notify' }
  /** Makes WAITING_DEVICE targets of these devices ready, or of all that are online. */
  | { readonly kind: 'wakeWaiting'; readonly deviceIds: readonly DeviceId[] | undefined }
  /** Slots that the job waits for go to other jobs. */
  | { readonly kind: 'withdraw' }
  /** The slot of a call that its gateway was too busy for stays taken; `restEnded` frees it. */
  | { readonly kind: 'rest'; readonly ms: number }
  /** The targets of all calls in flight are about to be decided: their answers are late. */
  | { readonly kind: 'forgetCalls' }
  | { readonly kind: 'restartDevices'; readonly devices: readonly StuckDevice[] }
  /** The run is over. */
  | { readonly kind: 'end' };

/** A device that may be stuck in its upgrade, with the session that the upgrade was sent on. */
export interface StuckDevice {
  readonly deviceId: DeviceId;
  readonly epoch: number;
  readonly gatewayId: HubProcessId;
}
