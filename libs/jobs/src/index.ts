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
