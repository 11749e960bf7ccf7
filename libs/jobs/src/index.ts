export { countedSince, observeSecondsDefault } from './health/health-gate.js';
export type { HealthEvidence, HealthGate, TrippedHealthGate } from './health/health-gate.js';
export { isRateAbove, rateInterval } from './health/poisson.js';
export type { AbortRule, TrippedRule } from './abort/abort-rule.js';
/** @public Declarations of other projects name them. */
export type { AbortAction, AbortOutcome } from './abort/abort-rule.js';
export { defaultAbortRules } from './abort/default-rules.js';
export { blastRadius } from './abort/blast-radius.js';
export { isFailure, judgeAttempt } from './attempt-end.js';
export type { AttemptEnd } from './attempt-end.js';
export { emptyProgress } from './job-progress.js';
export { allotSlots, weightOf } from './fairness/allot-slots.js';
export type { Contender } from './fairness/allot-slots.js';
export { applyFailureText } from './failure-text.js';
export {
  abortRulesMax,
  argumentsBytesMax,
  callTimeoutMsMax,
  callTimeoutMsMin,
  inlineIdsMax,
  jobLifeMsDefault,
  jobLifeMsMax,
  liveJobsMax,
  maxAttemptsDefault,
  maxAttemptsMax,
  maxInFlightDefault,
  maxInFlightMax,
  perMinuteMax,
  priorityDefault,
  priorityMax,
  scheduleMsMax,
  soakSecondsMax,
  targetsMax,
  wavesMax,
} from './job-limits.js';
export { nextJobState } from './job-transitions.js';
export type {
  Job,
  JobConclusion,
  JobProgress,
  JobState,
  OfflinePolicy,
  Readback,
  TargetOutcome,
  TargetState,
  ToolPolicy,
  Verification,
} from './job-types.js';
export type { RunEffect, RunInput, RunMove, RunSignal, RunTask, StuckDevice, TaskReport } from './machine/run-input.js';
export { step } from './machine/run-machine.js';
export { markSentAfterMs, mayPrepare, maySend, startRun } from './machine/run-state.js';
export type { RunState } from './machine/run-state.js';
export { paceOf, secondsAtPace } from './pace/pace.js';
export { emptyBucket, refilled, takeable, waitMs, withTaken } from './pace/pace-bucket.js';
export type { PaceBucket } from './pace/pace-bucket.js';
export { rerunOffer } from './retry/rerun-offer.js';
export type { FailureCodeCount, RerunOffer } from './retry/rerun-offer.js';
export type { DailyWindow } from './schedule/daily-window.js';
export { windowAt } from './schedule/window-at.js';
export type { WindowState } from './schedule/window-at.js';
export { defaultToolPolicy, findToolPolicy, withHubTools } from './tool-policy.js';
export { isSameValue, judgeReadback, maskReported, readbackValue, valueAt } from './verification/judge-readback.js';
export type { DownloadState } from './verification/verification-evidence.js';
export { isStuck } from './verification/verification-end.js';
export type { VerificationEnd, VerifyingTarget } from './verification/verification-end.js';
export { verificationDeadlines, verificationMsMax, verificationTimes } from './verification/verification-times.js';
export type { VerificationDeadlines, VerificationTimes } from './verification/verification-times.js';
export type { Wave, WaveSpec } from './waves/wave.js';
export { planWaves } from './waves/plan-waves.js';
export type { PlannedWave } from './waves/plan-waves.js';
export { judgeGate, stragglerAfterMsDefault, successShare } from './waves/wave-gate.js';
