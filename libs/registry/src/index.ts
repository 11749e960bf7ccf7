export type { CallCounts, FleetCounts, FleetShare, OnlinePoint } from './devices/fleet-figures.js';
export type {
  AuditEntryRow,
  AuditFault,
  AuditFilter,
  AuditOrder,
  AuditSource,
  AuditVerdict,
  NewAuditEntry,
} from './audit/audit-entry.js';
export type { AuditStore } from './audit/audit-store.js';
export { randomBytesOfId } from './database/random-bytes.js';
export { narrowed } from './device-filter.js';
export type { FleetView, Viewer } from './access-scope/fleet-view.js';
export type { DeviceFilter, Dialect, GroundFilter, Presence, Reachability, TransportKind } from './device-filter.js';
export type { DeviceGroupAnswer, DeviceGroupRow } from './groups/device-group.js';
export type { DeviceGroupStore } from './groups/device-group-store.js';
export { groupIdsIn, isGroundFilter } from './groups/ground-filter.js';
export type {
  ClosedSession,
  ConnectingDevice,
  DeviceOrder,
  DeviceRow,
  DeviceStore,
  FleetToolRow,
  FormerState,
  OpenedSession,
  ReadyFacts,
  ReadyResult,
  ReadySession,
  ReportedState,
  SessionRow,
  StoredTool,
  TagChange,
  TagResult,
  ToolFilter,
  ToolSet,
  ToolSetStore,
  ToolSetUseRow,
} from './devices/device-types.js';
export type {
  AddedImage,
  DownloadProgress,
  DownloadRow,
  DownloadTarget,
  DownloadStore,
  FirmwareImageRow,
  FirmwareImageStore,
  FirmwareKind,
  ImageSignature,
  NewDownload,
  NewFirmwareImage,
  Publication,
  PublishAnswer,
  RemovalAnswer,
} from './firmware/firmware-types.js';
export type {
  ClaimedTarget,
  EarlierJob,
  MissingImage,
  DecidedPoint,
  FailureGroupRow,
  JobFence,
  JobMove,
  JobStore,
  CorrectedTarget,
  LateAnswer,
  LateTarget,
  NewJob,
  ReadbackTarget,
  TargetFlush,
  TargetRow,
  ToolSetCount,
  ToolSetVerdict,
  VerificationEnd,
  VerificationLook,
  VerifyingTarget,
} from './jobs/job-types.js';
export type { FirmwareSigningKeyRow, FirmwareSigningKeyStore, SigningKeyAnswer } from './firmware/signing-key-store.js';
export type { DisruptiveCall, DisruptiveCallBounds, DisruptiveCallStore } from './calls/disruptive-call-store.js';
export { jobActionOf } from './jobs/commands/job-audit.js';
export { startEmbeddedPostgres } from './embedded/start-embedded-postgres.js';
export type { EmbeddedPostgres, EmbeddedPostgresOptions } from './embedded/start-embedded-postgres.js';
export type { DialStore, DialTarget } from './devices/dial-types.js';
export type { FailureRun, SignInFailureStore } from './people/sign-in-failure-store.js';
export type {
  Asked,
  NewUser,
  OidcIdentity,
  Role,
  UserAnswer,
  UserChange,
  UserRefusal,
  UserRow,
} from './people/user.js';
export type { NewUserSession, UserSession, UserSessionStore } from './people/user-session-store.js';
export type { UserStore } from './people/user-store.js';
export { openRegistry } from './open-registry.js';
export type { RegistryOptions } from './open-registry.js';
export type { Page, PageRequest } from './page.js';
export type {
  CallFilter,
  CallRecord,
  CallRow,
  CallStore,
  EventFilter,
  EventRow,
  EventStore,
} from './calls/record-types.js';
export { principalRef } from './registry.js';
export type { ApiKeyAnswer, ApiKeyRow, KeyCreation, NewApiKey, RevocationAnswer } from './keys/api-key.js';
export type { ApiKeyStore } from './keys/api-key-store.js';
export { SCOPES } from './keys/api-key.js';
export type { LeaseOptions, Principal, ProcessLease, Registry, Scope, WriterStatus } from './registry.js';
export type { ToolPolicyStore } from './policies/tool-policy-store.js';
export type {
  Approval,
  ApprovalRefusal,
  BoardFacts,
  CredentialVerdict,
  EnrolmentLinkRow,
  EnrolmentRow,
  FactoryKey,
  IssuedCredential,
  KnownDevice,
  NewDevice,
  OtaContact,
  PendingEnrolment,
  Recognition,
} from './provisioning/provisioning.js';
export type { CredentialStore } from './provisioning/credentials/credential-store.js';
export type { EnrolmentStore } from './provisioning/enrolments/enrolment-store.js';
export type {
  GrantedDownload,
  ObjectionGroup,
  RevertGroup,
  RolloutCandidate,
  RolloutGrant,
  RolloutLimits,
  RolloutStore,
} from './jobs/rollout/rollout-types.js';
export { RecordIds } from './events/record-ids.js';
export type { NewUpload, UploadKind, UploadRow, UploadStore } from './uploads/upload-types.js';
export { RegistryError } from './registry-error.js';
export type { RegistryErrorCode } from './registry-error.js';
export type { RegistryLogger } from './registry-logger.js';
export type {
  Breaker,
  DeliveryEnd,
  PendingDelivery as OwedEvent,
  RedeliveryAnswer,
  WebhookBacklog,
  WebhookDeliveryRow,
  WebhookRow,
} from './webhooks/webhook.js';
export type { WebhookStore } from './webhooks/webhook-store.js';
export { verifyAuditTrail } from './audit/verify-audit.js';
export { openEmbeddedPostgres } from './embedded/open-embedded-postgres.js';
export { closeDataDir } from './embedded/data-folder.js';
export type { ClosedFolder } from './embedded/data-folder.js';
export type { OpenedPostgres } from './embedded/open-embedded-postgres.js';
export type { KeptTimes } from './retention/remove-old.js';
export type {
  VoiceServerErrorCode,
  VoiceServerRow,
  VoiceServerState,
  VoiceServerStore,
} from './voice/voice-server-store.js';
