export { isUnhealthy, observeSecondsDefault } from './health/health-gate.js';
export type { HealthEvidence, HealthGate, TrippedHealthGate } from './health/health-gate.js';
export { isRateAbove, rateInterval } from './health/poisson.js';
export type { AbortAction, AbortOutcome, AbortRule, AbortScope, RuleCounts, TrippedRule } from './abort/abort-rule.js';
export { defaultAbortRules } from './abort/default-rules.js';
export { findTrippedRule } from './abort/evaluate-rules.js';
export type { RuleEvidence } from './abort/evaluate-rules.js';
export { blastRadius } from './abort/blast-radius.js';
export { isFailure, judgeAttempt } from './attempt-end.js';
export type { AttemptEnd, AttemptRules, EndedAttempt, JudgedAttempt } from './attempt-end.js';
export { emptyProgress } from './empty-progress.js';
export { concludeJob } from './conclude-job.js';
export type { EarlyConclusion } from './conclude-job.js';
export { allotSlots, weightOf } from './fairness/allot-slots.js';
export type { Allotment, Contender } from './fairness/allot-slots.js';
export { applyFailureText } from './failure-text.js';
export { claimLimit, intentBatchMax, isClaimWorthwhile } from './intent-batch.js';
export type { ClaimingJob } from './intent-batch.js';
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
export type { JobTrigger } from './job-transitions.js';
export type {
  Job,
  JobConclusion,
  JobProgress,
  JobState,
  OfflinePolicy,
  PauseReason,
  Readback,
  TargetDecision,
  TargetOutcome,
  TargetState,
  ToolPolicy,
  Verification,
} from './job-types.js';
export { judgeTarget } from './judge-target.js';
export type { TargetVerdict } from './judge-target.js';
export type {
  FlushedBatch,
  RunEffect,
  RunInput,
  RunMove,
  RunSignal,
  RunTask,
  StuckDevice,
  TaskReport,
} from './machine/run-input.js';
export { step } from './machine/run-machine.js';
export type { RunStep } from './machine/run-machine.js';
export { markSentAfterMs, mayPrepare, maySend, startRun } from './machine/run-state.js';
export type { RunRules, RunState } from './machine/run-state.js';
export { isFailing, paceOf, ratePerMinute, secondsAtPace } from './pace/pace.js';
export type { Pace, RecentEnds } from './pace/pace.js';
export { emptyBucket, refilled, takeable, waitMs, withTaken } from './pace/pace-bucket.js';
export type { PaceBucket } from './pace/pace-bucket.js';
export { rerunOffer } from './retry/rerun-offer.js';
export type { FailureCodeCount, RerunOffer } from './retry/rerun-offer.js';
export { retryDelayMs } from './retry/retry-delay.js';
export type { DailyWindow } from './schedule/daily-window.js';
export { scheduledMove } from './schedule/scheduled-move.js';
export type { ScheduledMove } from './schedule/scheduled-move.js';
export { windowAt } from './schedule/window-at.js';
export type { WindowState } from './schedule/window-at.js';
export { defaultToolPolicy, findToolPolicy, withHubTools } from './tool-policy.js';
export { retryOfUpgrade } from './verification/retry-upgrade.js';
export type { UpgradeRetry } from './verification/retry-upgrade.js';
export { isSame, judgeReadback, maskReported, readbackValue, valueAt } from './verification/judge-readback.js';
export { judgeVerification } from './verification/judge-verification.js';
export type {
  DecidedVerification,
  DownloadState,
  VerificationEvidence,
  VerificationVerdict,
} from './verification/verification-evidence.js';
export { isStuck } from './verification/verification-end.js';
export type { VerificationEnd, VerifyingTarget } from './verification/verification-end.js';
export { verificationDeadlines, verificationMsMax, verificationTimes } from './verification/verification-times.js';
export type { VerificationDeadlines, VerificationTimes } from './verification/verification-times.js';
export { verifyAfterCall, verifyAfterLateAnswer } from './verification/verify-after-call.js';
export type { AfterCall, EndedCall } from './verification/verify-after-call.js';
export type { Wave, WaveGate, WaveSpec } from './waves/wave.js';
export { planWaves } from './waves/plan-waves.js';
export type { PlannedWave } from './waves/plan-waves.js';
export { judgeGate, stragglerAfterMsDefault } from './waves/wave-gate.js';
export type { GateMoment, GateStep } from './waves/wave-gate.js';
