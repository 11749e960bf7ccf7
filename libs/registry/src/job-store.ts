import type {
  CallError,
  CallId,
  DeviceId,
  HubProcessId,
  JobId,
  SendCertainty,
  ToolResult,
  ToolSetHash,
} from '@flotilla/mcp';
import type {
  DecidedVerification,
  Job,
  JobConclusion,
  JobProgress,
  JobState,
  PauseReason,
  PlannedWave,
  TargetOutcome,
  TargetState,
  TrippedRule,
  UpgradeRetry,
  VerificationDeadlines,
  VerificationEvidence,
  Wave,
} from '@flotilla/jobs';
import type { AuditSource } from './audit-store.js';
import type { DeviceFilter } from './device-filter.js';
import type { Page, PageRequest } from './page.js';

/** What preparation, sending or an operator decides later. */
type DecidedLater =
  | 'state'
  | 'conclusion'
  | 'pauseReason'
  | 'isCancelForced'
  | 'version'
  | 'total'
  | 'approvalTargets'
  | 'currentWave'
  | 'trippedRule'
  | 'approvedBy'
  | 'startedAt'
  | 'finishedAt';

/** A job to be made. The row is everything that a restart needs. */
export interface NewJob extends Omit<Job, DecidedLater> {
  readonly state: Extract<JobState, 'AWAITING_APPROVAL' | 'SCHEDULED' | 'PREPARING'>;
  readonly devices: DeviceFilter;
  readonly idempotencyKey: string;
  /** Hash of the request: the same key with another hash is a conflict. */
  readonly requestHash: string;
}

/** An image that a job was to roll out was deleted meanwhile: no job was made. */
export interface MissingImage {
  readonly kind: 'image_missing';
}

/** The same request under the same key gets the first one's job; another request under it is a conflict. */
export type EarlierJob = { readonly kind: 'repeat'; readonly job: Job } | { readonly kind: 'conflict' };

/** Verdict over all devices of one tool set: computed once, applied set-based. `undefined` hash: devices whose tools are not known yet. */
export interface ToolSetVerdict {
  readonly toolSetHash: ToolSetHash;
  /** Undefined: may be sent. */
  readonly rejection: CallError | undefined;
}

/** Devices that have the same tools; `undefined` hash: nobody knows which. */
export interface ToolSetCount {
  readonly toolSetHash: ToolSetHash | undefined;
  readonly devices: number;
  readonly online: number;
}

/** A target claimed for sending; its intent is committed. */
export interface ClaimedTarget {
  readonly deviceId: DeviceId;
  readonly callId: CallId;
  /** Number of the claim: what fences the end of the attempt. */
  readonly attempt: number;
  /** How often the target was or may have been sent, this time included. */
  readonly sends: number;
  readonly epoch: number;
  readonly gatewayId: HubProcessId;
  readonly toolSetHash: ToolSetHash | undefined;
  /** What operators call it. */
  readonly deviceName: string | undefined;
  /** Firmware before the send. */
  readonly baselineVersion: string | undefined;
  /** End of the owner's lease as it was at the claim (ms since the Unix epoch, by the clock of `at`): from then on another process may own the job. */
  readonly sendBy: number;
}

/** What verification starts from: absolute times, ms since the Unix epoch. */
export interface VerificationStart {
  readonly deadlineAt: number;
  /** From then on a device that is away counts as lost. */
  readonly softDeadlineAt: number | undefined;
  /** When its value is to be read first, where one is. */
  readonly readAt: number | undefined;
}

/** A target in VERIFYING with what is known about its device. */
export interface VerifyingTarget extends VerificationEvidence {
  readonly deviceId: DeviceId;
  readonly attempt: number;
  /** Sends so far, without those that were repeated because the hub cut the download. */
  readonly attempts: number;
  readonly callId: CallId;
  /** Of the device's newest session. */
  readonly gatewayId: HubProcessId | undefined;
  readonly toolSetHash: ToolSetHash | undefined;
  /** How the call ended, where it had no answer. */
  readonly callError: CallError | undefined;
}

export interface VerificationLook {
  /** All targets in VERIFYING, with news or without. */
  readonly verifyingCount: number;
  readonly targets: readonly VerifyingTarget[];
}

/** A connected target whose value is to be read. */
export interface ReadbackTarget {
  readonly deviceId: DeviceId;
  readonly attempt: number;
  readonly epoch: number;
  readonly gatewayId: HubProcessId;
  readonly toolSetHash: ToolSetHash | undefined;
}

/** The end of a verification, on its way into the target's row. `again`: to be sent once more, as `retry` counts it; its error stays until that has ended. */
export interface VerificationEnd {
  readonly deviceId: DeviceId;
  readonly attempt: number;
  readonly to:
    | ({ readonly kind: 'decided' } & DecidedVerification['decision'])
    | { readonly kind: 'again'; readonly retry: UpgradeRetry; readonly error: CallError };
}

/** The end of an attempt, on its way into the target's row. */
export interface TargetFlush {
  readonly deviceId: DeviceId;
  readonly attempt: number;
  /** `retry`: it was sent and is sent again, with the attempt counted and its error kept. `decided`: terminal. `verifying`: judged by what the device does next. `waiting`: certainly not sent, the device is away; no attempt is consumed. `ready`: certainly not sent, to be claimed again, not before the given time. */
  readonly to:
    | {
        readonly kind: 'decided';
        readonly outcome: TargetOutcome;
        readonly certainty: SendCertainty;
        readonly error: CallError | undefined;
        readonly result: ToolResult | undefined;
      }
    | ({
        readonly kind: 'verifying';
        readonly certainty: SendCertainty;
        readonly error: CallError | undefined;
        readonly result: ToolResult | undefined;
      } & VerificationStart)
    | { readonly kind: 'waiting' }
    | { readonly kind: 'ready'; readonly notBefore?: number }
    | {
        readonly kind: 'retry';
        readonly notBefore: number;
        readonly certainty: SendCertainty;
        readonly error: CallError | undefined;
      };
  readonly startedAt: number | undefined;
  readonly at: number;
}

/** Targets that had ended in each outcome at a moment, ms since the Unix epoch. */
export type DecidedPoint = { readonly at: number } & Readonly<Record<DecidedCounter, number>>;

/** The counters of targets that have ended. */
export type DecidedCounter = Exclude<
  keyof JobProgress,
  'total' | 'pending' | 'waitingDevice' | 'inFlight' | 'verifying'
>;

export interface TargetRow {
  readonly deviceId: DeviceId;
  readonly wave: number;
  readonly state: TargetState;
  readonly outcome: TargetOutcome | undefined;
  /** Sends, without one that was repeated because the hub cut the download. */
  readonly attempts: number;
  readonly error: CallError | undefined;
  readonly result: ToolResult | undefined;
  readonly late: boolean;
  readonly decidedAt: number | undefined;
  /** When a target in RETRY_WAIT may be sent again. */
  readonly retryAt: number | undefined;
  /** When a target in VERIFYING is given up. */
  readonly verifyDeadlineAt: number | undefined;
  /** From then on a target in VERIFYING counts as lost for abort rules. */
  readonly softDeadlineAt: number | undefined;
  /** Firmware before the send. */
  readonly baselineVersion: string | undefined;
}

export interface FailureGroupRow {
  /** The board of its devices, in a roll-out. */
  readonly model: string | undefined;
  readonly outcome: TargetOutcome;
  readonly code: string | undefined;
  readonly message: string;
  readonly count: number;
  readonly sampleDeviceIds: readonly DeviceId[];
}

/** What a narrowed viewer sees: jobs with a target among `within`, and those that `creator` (kind and id) made. */
export interface JobSight {
  readonly within: DeviceFilter;
  readonly creator: string;
}

export interface TargetFilter {
  readonly outcomes?: readonly TargetOutcome[];
  readonly deviceIds?: readonly string[];
  readonly sight?: JobSight;
}

/** The owner of a running job: one hub process with a living lease. `fence` grows with each takeover; a statement of an older fence changes nothing. */
export interface JobFence {
  readonly jobId: JobId;
  readonly fence: number;
}

/** Where a job goes. What is not given of the reason and the conclusion is not there afterwards. */
export interface JobMove {
  readonly state: JobState;
  readonly pauseReason?: PauseReason | undefined;
  readonly conclusion?: JobConclusion | undefined;
  /** A cancel that does not wait for calls in flight; stays once it was given. */
  readonly isCancelForced?: boolean;
  /** Stays where it is not given. */
  readonly trippedRule?: TrippedRule;
  /** Who lets the wave after the open one go. */
  readonly waveApprovedBy?: string;
  /** Who approved or denied it; stays once it was given. */
  readonly approvedBy?: string | undefined;
  /** For the audit trail only. */
  readonly reason?: string | undefined;
}

/** A target that an answer came too late for. */
export interface LateTarget {
  readonly callId: CallId;
  readonly failureText: string | undefined;
  readonly verification: Job['verification'];
}

/** What a device said after its target was given up. */
export interface LateAnswer {
  readonly callId: CallId;
  readonly outcome: Extract<TargetOutcome, 'SUCCEEDED' | 'FAILED'>;
  readonly error: CallError | undefined;
  readonly result: ToolResult | undefined;
}

/** A target that a late answer has corrected. */
export interface CorrectedTarget {
  readonly jobId: JobId;
  readonly deviceId: DeviceId;
}

/** Targets that ended together, without an answer each. */
export interface BulkEnd {
  readonly count: number;
  /** Of some of them, where they are many: for who follows the job. */
  readonly deviceIds: readonly DeviceId[];
}

/**
 * Jobs, targets, counters. Every method that moves targets also moves the counters in the same transaction, so that they sum to the total at every
 * commit; every transition of a job compares and sets (state, version).
 */
export interface JobStore {
  /** Recorded in the audit trail in the same transaction, as on behalf of its creator where `by` is not given. */
  create(
    job: NewJob,
    by?: AuditSource,
  ): Promise<{ readonly kind: 'created'; readonly job: Job } | EarlierJob | MissingImage>;
  /** All in one transaction, or none where the key of the first was used before, or an image is gone. */
  createAll(
    jobs: readonly NewJob[],
    by: AuditSource,
  ): Promise<{ readonly kind: 'created'; readonly jobs: readonly Job[] } | EarlierJob | MissingImage>;
  /** What its principal made under this key before; undefined where it is new. */
  earlier(job: Pick<NewJob, 'createdById' | 'idempotencyKey' | 'requestHash'>): Promise<EarlierJob | undefined>;
  /** Devices that the filter matches now, by their tools. */
  countByToolSet(devices: DeviceFilter): Promise<readonly ToolSetCount[]>;
  /** Devices that the filter matches now, counted up to `max`. */
  countDevices(devices: DeviceFilter, max: number): Promise<number>;
  /** With secrets masked in the arguments, like every job of this store. */
  find(id: string, sight?: JobSight): Promise<Job | undefined>;
  /**
   * The arguments as they are sent, for the process that runs the job. `lost` where their secrets were sealed with another key, `undefined` where there is no
   * such job.
   */
  argumentsOf(id: JobId): Promise<Job['arguments'] | 'lost' | undefined>;
  page(
    filter: { readonly states?: readonly JobState[]; readonly tool?: string; readonly search?: string },
    page: PageRequest,
    sight?: JobSight,
  ): Promise<Page<Job>>;
  progress(ids: readonly JobId[]): Promise<ReadonlyMap<JobId, JobProgress>>;
  /** A page of each job's targets by device id, in the order of the input. */
  targets(ids: readonly JobId[], filter: TargetFilter, page: PageRequest): Promise<readonly Page<TargetRow>[]>;
  /** Each job's failures by kind, most frequent first, in the order of the input. */
  failureGroups(
    ids: readonly JobId[],
    first: number,
    sight?: JobSight,
  ): Promise<readonly (readonly FailureGroupRow[])[]>;
  /** For each job, in the order of the input, how many targets had ended how at up to `points` moments of equal distance. Goes over all targets of the jobs. */
  decidedOverTime(
    ids: readonly JobId[],
    points: number,
    sight?: JobSight,
  ): Promise<readonly (readonly DecidedPoint[])[]>;
  /** Whether a viewer of this sight would touch others' devices by steering the job: one is a target, or nobody has counted them yet. */
  hasTargetsBeyond(job: Pick<Job, 'id' | 'createdById'>, sight?: JobSight): Promise<boolean>;
  liveCount(): Promise<number>;

  /** Moves the job if it still has this version, and records that in the audit trail in the same transaction; undefined when it has not. `by`: the hub itself where not given. */
  transition(job: Pick<Job, 'id' | 'version'>, to: JobMove, at: number, by?: AuditSource): Promise<Job | undefined>;

  /** Makes this process the job's owner unless a living one has it; undefined then. Raises the fence. Targets that the former owner left in flight are classified by `recover`. */
  takeOwnership(id: JobId, owner: HubProcessId): Promise<JobFence | undefined>;
  /** Live jobs without a living owner, or owned by `owner`. */
  liveJobs(): Promise<
    readonly { readonly id: JobId; readonly ownerIsAlive: boolean; readonly owner: HubProcessId | undefined }[]
  >;
  /**
   * After a takeover: DISPATCHING and SENT targets go back to READY where the tool is idempotent, to VERIFYING where it has a verification, else to
   * UNKNOWN with HUB_RESTARTED. Resolves to how many of each.
   */
  recover(
    fence: JobFence,
    at: number,
    times: VerificationDeadlines,
  ): Promise<{
    readonly resent: number;
    readonly verifying: number;
    readonly unknown: number;
    readonly unknownDeviceIds: readonly DeviceId[];
  }>;

  /** Tool sets over the devices of the filter that are not yet verdicted, for `prepareChunk`. */
  toolSetsOf(fence: JobFence): Promise<readonly ToolSetHash[]>;
  /**
   * Inserts up to `limit` targets in key order with `INSERT … SELECT`; resolves to how many, 0 when all are in, undefined where the job is not PREPARING
   * or has another owner. Safe to repeat after a crash.
   */
  prepareChunk(
    fence: JobFence,
    verdicts: readonly ToolSetVerdict[],
    limit: number,
    at: number,
  ): Promise<number | undefined>;
  /** Targets that are in. */
  countTargets(fence: JobFence): Promise<number>;
  /** Freezes the total and gives each target its wave: no model and firmware all in the first or all in the last one. None given: all targets are in wave 1. */
  freeze(fence: JobFence, waves: readonly PlannedWave[]): Promise<number>;
  /** Each job's waves by number, in the order of the input; none where it goes out at once. */
  waves(ids: readonly JobId[]): Promise<readonly (readonly Wave[])[]>;
  /** Progress by wave number, in the order of the input; of a job without waves all in wave 1. */
  waveProgress(ids: readonly JobId[], sight?: JobSight): Promise<readonly ReadonlyMap<number, JobProgress>[]>;
  /** Closes the open wave `from` (0: none) and opens the next; false where somebody moved the job first. Its targets become READY by `openTargets`. */
  openWave(fence: JobFence, from: number, at: number): Promise<boolean>;
  /** Up to `limit` PENDING targets of opened waves become READY, or what their device is up to makes of them; resolves to how many, 0 when all have. */
  openTargets(fence: JobFence, limit: number, at: number): Promise<number>;
  /** Latest decision in the wave, ms since the Unix epoch. */
  lastDecidedAt(fence: JobFence, wave: number): Promise<number | undefined>;

  /**
   * Claims up to `limit` READY targets whose device is online: attempt, epoch, call id and deadline are committed before this resolves. Offline ones among
   * them become WAITING_DEVICE; those of removed devices end SKIPPED. Devices that a disruptive job holds are passed over; where this job `isDisruptive`, so
   * are devices with a call of any other job under way.
   */
  claim(fence: JobFence, limit: number, at: number, isDisruptive?: boolean): Promise<readonly ClaimedTarget[]>;
  /** Writes the ends of attempts; resolves to how many rows changed. */
  flush(fence: JobFence, flushes: readonly TargetFlush[]): Promise<number>;
  /** The targets in VERIFYING about which something can be said, and that of `callId`. */
  verifying(fence: JobFence, at: number, callId?: CallId): Promise<VerificationLook>;
  /** Writes the ends of verifications; resolves to the devices whose targets were changed. */
  settleVerifications(fence: JobFence, ends: readonly VerificationEnd[], at: number): Promise<readonly DeviceId[]>;
  /** Connected targets in VERIFYING whose value is due to be read; each is due again at `againAt`. */
  claimReadbacks(
    fence: JobFence,
    limit: number,
    due: { readonly at: number; readonly againAt: number },
  ): Promise<readonly ReadbackTarget[]>;
  /** Targets in VERIFYING, by wave, whose device is away past its soft deadline and was served no byte of an image for `overdueMs`. */
  overdue(id: JobId, at: number, overdueMs: number): Promise<ReadonlyMap<number, number>>;
  /** After a takeover: nothing could be seen while nobody owned the job, so no deadline of a target in VERIFYING is before `until`. */
  extendVerifying(fence: JobFence, until: number): Promise<void>;
  /** Marks unanswered targets SENT. */
  markSent(fence: JobFence, deviceIds: readonly DeviceId[]): Promise<void>;
  /** WAITING_DEVICE targets whose device is online again become READY; of these devices only, or of all when not given. Of all, those whose device was removed end SKIPPED. */
  wakeWaiting(fence: JobFence, deviceIds?: readonly DeviceId[]): Promise<number>;
  /** RETRY_WAIT targets whose time has come become READY; with how many, and when the next one is due. */
  releaseRetries(
    fence: JobFence,
    at: number,
  ): Promise<{ readonly released: number; readonly nextAt: number | undefined }>;
  /** Never-sent targets end CANCELLED or EXPIRED, in chunks; those that waited for another try keep the end of their latest. */
  endNeverSent(fence: JobFence, outcome: 'CANCELLED' | 'EXPIRED', at: number): Promise<BulkEnd>;
  /** In-flight targets end UNKNOWN (force cancel). */
  endInFlight(fence: JobFence, error: CallError, at: number): Promise<BulkEnd>;
  /** Targets of any job whose latest call is one of these, and that were given up. */
  lateTargets(callIds: readonly CallId[]): Promise<readonly LateTarget[]>;
  /** UNKNOWN targets become what their device said, once and marked late, with the counters in the same transaction. Resolves to those that changed. */
  correctUnknown(answers: readonly LateAnswer[]): Promise<readonly CorrectedTarget[]>;
  /** Recounts the rows and mends the counters; resolves to the drift found (0 when right). */
  reconcile(id: JobId): Promise<number>;
}
