export type { CallCounts, FleetCounts, OnlinePoint } from './devices/fleet-figures.js';
export type {
  AlertFilter,
  AlertRow,
  AlertRulePlan,
  AlertRuleRow,
  ChannelAnswer,
  ChannelConfig,
  ChannelKind,
  ChannelRow,
  ClaimedMessage,
  RuleAnswer,
} from './alerts/alert.js';
export {
  countedEvents,
  devicesOutOfSync,
  failingWebhooks,
  givenSubjects,
  offlineDevices,
  stoppedJobs,
} from './alerts/condition-sources.js';
export type { ConditionSource, HeldSubject } from './alerts/condition-sources.js';
export type { AuditEntryRow, AuditFault, AuditSource, NewAuditEntry } from './audit/audit-entry.js';
export type { AuditStore } from './audit/audit-store.js';
export { maskedAddresses } from './audit/masked-url.js';
export { rejectsValues } from './database/database.js';
export { openPool } from './database/open-pool.js';
export { postgresHosts, postgresUrlProblem } from './database/postgres-url.js';
export { randomBytesOfId } from './database/random-bytes.js';
export { filterIdsIn, withIdsOf } from './access-scope/scoped-filter.js';
export { givenFilter, isScopedFilter, scopedFilter } from './device-filter.js';
export type { FleetView } from './access-scope/fleet-view.js';
export type {
  DeviceFilter,
  /** @public Declarations of other projects name it. */ Presence,
  ResolvedFilter,
  Reachability,
} from './device-filter.js';
export type { DeviceGroupAnswer, DeviceGroupRow } from './groups/device-group.js';
export { groupIdsIn, isResolvedFilter } from './groups/resolve-filter.js';
export type { DeviceRow } from './devices/device-rows.js';
export type { DeviceStore } from './devices/device-store.js';
export type { ReadyFacts, ReadyResult } from './sessions/session-changes.js';
export type { SessionRow } from './sessions/session-rows.js';
export type { StoredTool, ToolSet } from './tool-sets/tool-set.js';
export type { ToolSetUseRow } from './tool-sets/tool-set-history.js';
export type { FleetToolRow, ToolFilter, ToolSetStore } from './tool-sets/tool-set-store.js';
export { NO_PROCESS } from './firmware/download-store.js';
export type { DownloadProgress, DownloadTarget } from './firmware/download-store.js';
export type { FirmwareImageStore } from './firmware/firmware-image-store.js';
export type { Publication } from './firmware/publication.js';
export type {
  DownloadRow,
  FirmwareImageRow,
  FirmwareKind,
  ImageSignature,
  NewFirmwareImage,
} from './firmware/image-rows.js';
export { propertyOf } from './desired-states/desired-state.js';
export type {
  DesiredStateAnswer,
  DesiredStateEditRow,
  DesiredStatePlan,
  DesiredStateRow,
  DesiredStateSummaryRow,
  DesiredTargetRow,
  StoredGeneration,
} from './desired-states/desired-state.js';
export type { FencedTarget, OwnedDesiredState } from './desired-states/queue/desired-state-queue.js';
export type { DeviceFacts } from './desired-states/queue/device-facts.js';
export type { RolloutReach } from './desired-states/queue/rollouts.js';
export type {
  RecurringJobAnswer,
  RecurringJobPlan,
  RecurringJobRow,
  RecurringRequest,
  RecurringRun,
} from './recurring-jobs/recurring-job.js';
export type { AppliedConfigurationRow, AppliedRecord } from './configuration/applied-configuration.js';
export type {
  FleetAggregate,
  FleetSeriesPoint,
  LatestPoint,
  RecordingRuleRow,
  Series,
  SeriesPoint,
} from './measurements/measurement.js';
export { fleetPathsMax } from './measurements/measurement-ids.js';
export type { MeasurementStore } from './measurements/measurement-store.js';
export type { RefusedPoint } from './measurements/measurement-writer.js';
export type { RecordingRuleStore } from './measurements/recording-rule-store.js';
export type { RestartCause, VersionFigures } from './restarts/restart.js';
export { bootDriftMax, sameBootMs, type RestartStore } from './restarts/restart-store.js';
export type { JobMove } from './jobs/commands/job-commands.js';
export type { EarlierJob, MissingImage, NewJob, OtherRun } from './jobs/commands/new-job.js';
export type { JobFence } from './jobs/job-fence.js';
export type { JobStores } from './jobs/job-stores.js';
export type { ToolSetCount, ToolSetEligibility } from './jobs/preparation/target-preparation.js';
export type { ClaimedTarget, CorrectedTarget, LateAnswer, LateTarget, TargetQueue } from './jobs/queue/target-queue.js';
export type { JobFilter, JobReads } from './jobs/reads/job-reads.js';
export type { TargetFlush } from './jobs/queue/target-flush.js';
export type { DecidedPoint } from './jobs/reads/decided-over-time.js';
export type { FailureGroupRow } from './jobs/reads/failure-groups.js';
export type { TargetRow } from './jobs/reads/read-targets.js';
export type { ReadbackTarget } from './jobs/verification/target-verification.js';
export type { FirmwareSigningKeyRow } from './firmware/signing-key-store.js';
/** @public Declarations of other projects name it. */
export type { EmbeddedPostgres } from './embedded/start-embedded-postgres.js';
export { startEmbeddedPostgres } from './embedded/start-embedded-postgres.js';
export type { DialStore, DialTarget } from './devices/dial-store.js';
export type { FailureRun } from './people/sign-in-failure-store.js';
export type { OidcIdentity, Role, UserAnswer, UserRefusal, UserRow } from './people/user.js';
export type { NewUserSession, UserSession } from './people/user-session-store.js';
export type { UserStore } from './people/user-store.js';
export { openRegistry } from './open-registry.js';
export type { Page, PageRequest } from './page.js';
export type { CallRow } from './calls/call-rows.js';
export type { CallStore } from './calls/call-store.js';
export { matchesType, selectsEvents } from './events/type-patterns.js';
export type { EventFilter, EventRow, EventStore, NewEvent } from './events/event-store.js';
export type { EventType } from './events/event-types.js';
export { principalRef } from './registry.js';
export type { AgentGrantRow, ListedGrant, OpenCheck, TokenHolder } from './grants/agent-grant.js';
export type { Artifact } from './grants/oauth-store.js';
export type { ApiKeyRow, NewApiKey } from './keys/api-key.js';
export type { ApiKeys } from './keys/api-key-store.js';
export { SCOPES } from './keys/api-key.js';
export type { GatewayPlace } from './processes/gateway-places.js';
export type { ProcessWriters } from './processes/process-writers.js';
export type { DeadProcesses } from './processes/end-processes.js';
export type { Principal, ProcessLease, Registry, Scope } from './registry.js';
export type { ToolPolicyStore } from './policies/tool-policy-store.js';
export type {
  Approval,
  ApprovalRequest,
  BlockedBoardRow,
  BoardFacts,
  FlashFacts,
  CredentialVerdict,
  EnrolmentLinkRow,
  EnrolmentRow,
  FactoryKey,
  KnownDevice,
  NewDevice,
  NewEnrolmentLink,
  OtaContact,
  PendingEnrolment,
  Recognition,
  RemovedDevice,
} from './provisioning/provisioning.js';
export type { CredentialStore } from './provisioning/credentials/credential-store.js';
export type {
  FormerBoard,
  MovingAnswer,
  MovingBoardRow,
  MovingCounts,
  MovingRoute,
} from './provisioning/moving/moving-board.js';
export type { MovingBoardStore } from './provisioning/moving/moving-board-store.js';
export { LINKS_MAX } from './provisioning/enrolments/enrolment-links.js';
export type { EnrolmentStore } from './provisioning/enrolments/enrolment-store.js';
export type { RolloutLimits } from './jobs/rollout/download-room.js';
export type { FormerVersionGroup, RevertGroup, RolloutGrant, RolloutStore } from './jobs/rollout/rollout-store.js';
export { RecordIds } from './events/record-ids.js';
export type { NewUpload, UploadKind, UploadRow, UploadStore } from './uploads/upload-store.js';
export { RegistryError } from './registry-error.js';
export type { Breaker, PendingDelivery, WebhookDeliveryRow, WebhookRow } from './webhooks/webhook.js';
export { verifyAuditTrail } from './audit/verify-audit.js';
export { openEmbeddedPostgres } from './embedded/open-embedded-postgres.js';
export { hubProcessOf } from './embedded/hub-lock.js';
export { openDatabaseDump } from './backup/dump-database.js';
export type { DatabaseDump } from './backup/dump-database.js';
export type { TableContents } from './backup/database-contents.js';
export { requireKnownVersion, requireRestorable } from './backup/require-restorable.js';
export { loadDatabase } from './backup/load-database.js';
export { checkDatabase } from './upgrade/check-database.js';
export type { DatabaseFacts } from './upgrade/check-database.js';
export { pendingMigrations } from './upgrade/pending-migrations.js';
export type { PendingMigrations } from './upgrade/pending-migrations.js';
export type { TablePiece } from './backup/load-database.js';
export { auditKeyOf } from './audit/audit-key.js';
export { closeDataDir } from './embedded/data-folder.js';
export type { KeptTimes } from './retention/remove-old.js';
export type { VoiceServerRow } from './voice/voice-server-store.js';
