export { concludeJob } from './conclude-job.js';
export type { EarlyConclusion } from './conclude-job.js';
export { applyFailureText } from './failure-text.js';
export { claimLimit, intentBatchMax, isClaimWorthwhile } from './intent-batch.js';
export type { ClaimingJob } from './intent-batch.js';
export {
  argumentsBytesMax,
  callTimeoutMsMax,
  callTimeoutMsMin,
  inlineIdsMax,
  jobLifeMsDefault,
  jobLifeMsMax,
  liveJobsMax,
  maxInFlightDefault,
  maxInFlightMax,
  targetsMax,
} from './job-limits.js';
export { nextJobState } from './job-transitions.js';
export type { JobEvent } from './job-transitions.js';
export type {
  Job,
  JobConclusion,
  JobProgress,
  JobState,
  OfflinePolicy,
  PauseReason,
  TargetDecision,
  TargetOutcome,
  TargetState,
  ToolPolicy,
} from './job-types.js';
export { judgeTarget } from './judge-target.js';
export type { TargetVerdict } from './judge-target.js';
export { defaultToolPolicy, findToolPolicy } from './tool-policy.js';
