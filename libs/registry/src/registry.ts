import type { HubProcessId } from '@flotilla/mcp';
import type { HubSecretName } from './secrets/hub-secrets.js';
import type { AlertEvaluationStore } from './alerts/evaluation-store.js';
import type { AlertRuleStore } from './alerts/alert-rule-store.js';
import type { AlertStore } from './alerts/alert-store.js';
import type { ChannelStore } from './alerts/channel-store.js';
import type { NotificationOutbox } from './alerts/notification-outbox.js';
import type { AuditStore } from './audit/audit-store.js';
import type { DeviceFilter } from './device-filter.js';
import type { DeviceGroupStore } from './groups/device-group-store.js';
import type { DeviceStore } from './devices/device-store.js';
import type { FleetFiguresStore } from './devices/fleet-figures.js';
import type { VoiceServerStore } from './voice/voice-server-store.js';
import type { DialStore } from './devices/dial-store.js';
import type { DownloadStore } from './firmware/download-store.js';
import type { FirmwareImageStore } from './firmware/firmware-image-store.js';
import type { FirmwareSigningKeyStore } from './firmware/signing-key-store.js';
import type { JobStores } from './jobs/job-stores.js';
import type { AgentGrantStore } from './grants/grant-store.js';
import type { OauthStore } from './grants/oauth-store.js';
import type { ApiKeys } from './keys/api-key-store.js';
import type { SignInFailureStore } from './people/sign-in-failure-store.js';
import type { UserSessionStore } from './people/user-session-store.js';
import type { UserStore } from './people/user-store.js';
import type { CredentialStore } from './provisioning/credentials/credential-store.js';
import type { EnrolmentStore } from './provisioning/enrolments/enrolment-store.js';
import type { MovingBoardStore } from './provisioning/moving/moving-board-store.js';
import type { GatewayPlace } from './processes/gateway-places.js';
import type { DeadProcesses } from './processes/end-processes.js';
import type { ProcessWriters } from './processes/process-writers.js';
import type { ToolPolicyStore } from './policies/tool-policy-store.js';
import type { DesiredStateStore } from './desired-states/desired-state-store.js';
import type { DesiredStateQueue } from './desired-states/queue/desired-state-queue.js';
import type { DesiredStateReads } from './desired-states/desired-state-reads.js';
import type { AppliedConfigurationStore } from './configuration/applied-configuration-store.js';
import type { MeasurementStore } from './measurements/measurement-store.js';
import type { RecordingRuleStore } from './measurements/recording-rule-store.js';
import type { RestartStore } from './restarts/restart-store.js';
import type { RecurringJobStore } from './recurring-jobs/recurring-job-store.js';
import type { RolloutStore } from './jobs/rollout/rollout-store.js';
import type { DisruptiveCallStore } from './calls/disruptive-call-store.js';
import type { CallStore } from './calls/call-store.js';
import type { EventStore } from './events/event-store.js';
import type { KeptTimes } from './retention/remove-old.js';
import type { ToolSetStore } from './tool-sets/tool-set-store.js';
import type { UploadStore } from './uploads/upload-store.js';
import type { FleetView, Viewer } from './access-scope/fleet-view.js';
import type { WebhookStore } from './webhooks/webhook-store.js';

export type Scope =
  | 'DEVICES_READ'
  | 'DEVICES_WRITE'
  | 'TOOLS_CALL'
  | 'TOOLS_CALL_PRIVILEGED'
  | 'JOBS_READ'
  | 'JOBS_WRITE'
  | 'FIRMWARE_WRITE'
  | 'EVENTS_READ'
  | 'ADMIN';

/** A caller: a program with its key, a person, or an agent that a person connected. */
export interface Principal {
  readonly kind: 'KEY' | 'USER' | 'GRANT';
  /** UUID of the key, the user or the grant. */
  readonly id: string;
  /** The name in records. It is not unique. */
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** The person behind a key or an agent (`principalRef`); undefined: the principal itself. */
  readonly owner?: string | undefined;
  /** The access scope, evaluated at each request; undefined: the whole fleet. */
  readonly devices?: DeviceFilter | undefined;
}

/** The key of everything per principal, such as limits and idempotency keys. */
export function principalRef({ kind, id }: Pick<Principal, 'kind' | 'id'>): string {
  return `${kind}:${id}`;
}

/** The lease of this process. Its presence and its jobs live as long as the lease. */
export interface ProcessLease {
  readonly id: HubProcessId;
  /**
   * Resolves when another process has ended the lease: stop sending first. A lapsed lease is
   * revived by the next renewal.
   */
  readonly lost: Promise<void>;
  /** Other processes no longer count this one as a successor. */
  markStopping(): Promise<void>;
  /** Announces the own address of a gateway, and whether it accepts devices. */
  announcePlace(place: GatewayPlace): Promise<void>;
  release(): Promise<void>;
}

export interface LeaseOptions {
  /**
   * No other process uses the database, as with an embedded server. All other leases end at once.
   */
  readonly aloneOnDatabase?: boolean;
  /** The roles and the version of this process, for operators. */
  readonly roles?: readonly string[];
  readonly version?: string;
}

/** Depth and lag of one batch writer, for metrics. */
export interface WriterStatus {
  readonly name: string;
  readonly depth: number;
  /** Age of the oldest row not yet written, ms. */
  readonly lagMs: number;
  readonly droppedTotal: number;
}

export interface Registry extends JobStores {
  readonly devices: DeviceStore;
  readonly deviceGroups: DeviceGroupStore;
  readonly fleetFigures: FleetFiguresStore;
  readonly toolSets: ToolSetStore;
  readonly dials: DialStore;
  readonly events: EventStore;
  readonly measurements: MeasurementStore;
  readonly recordingRules: RecordingRuleStore;
  readonly restarts: RestartStore;
  readonly recurringJobs: RecurringJobStore;
  readonly desiredStateStore: DesiredStateStore;
  readonly desiredStateQueue: DesiredStateQueue;
  readonly desiredStates: DesiredStateReads;
  readonly appliedConfigurations: AppliedConfigurationStore;
  readonly calls: CallStore;
  readonly uploads: UploadStore;
  readonly toolPolicies: ToolPolicyStore;
  readonly apiKeys: ApiKeys;
  readonly agentGrants: AgentGrantStore;
  readonly oauth: OauthStore;
  readonly users: UserStore;
  readonly userSessions: UserSessionStore;
  readonly signInFailures: SignInFailureStore;
  readonly credentials: CredentialStore;
  readonly enrolments: EnrolmentStore;
  readonly movingBoards: MovingBoardStore;
  readonly firmwareImages: FirmwareImageStore;
  readonly downloads: DownloadStore;
  readonly rollouts: RolloutStore;
  readonly signingKeys: FirmwareSigningKeyStore;
  readonly disruptiveCalls: DisruptiveCallStore;
  readonly webhooks: WebhookStore;
  readonly alertRules: AlertRuleStore;
  readonly alerts: AlertStore;
  readonly alertEvaluation: AlertEvaluationStore;
  readonly notificationChannels: ChannelStore;
  readonly notificationOutbox: NotificationOutbox;
  readonly audit: AuditStore;
  readonly voiceServers: VoiceServerStore;
  /** What this viewer sees and may touch: all that there is where nothing narrows them. */
  viewFor(viewer: Viewer): FleetView;
  /** Takes a lease for this process. */
  takeLease(options?: LeaseOptions): Promise<ProcessLease>;
  /** Ends processes with a lapsed lease and their sessions. Does nothing after an outage. */
  sweepDeadProcesses(): Promise<DeadProcesses>;
  /**
   * The processes whose leases live; undefined for a few seconds after this process took its lease,
   * or got it back after an outage.
   */
  livingProcesses(): Promise<ReadonlySet<HubProcessId> | undefined>;
  /** The roles of the other living processes that are not stopping. */
  successorRoles(): Promise<ReadonlySet<string>>;
  /**
   * Whether this process is the oldest living one with the role that does not stop: it alone does
   * what one process should do.
   */
  isEldest(role: string): Promise<boolean>;
  /** The own addresses of living gateways. */
  gatewayPlaces(): Promise<readonly GatewayPlace[]>;
  /** The writers of living processes that are behind or have lost rows; some seconds old. */
  processWriters(): Promise<readonly ProcessWriters[]>;
  /** A secret that all processes on this database share; made when it is first asked for. */
  hubSecret(name: HubSecretName): Promise<string>;
  makePartitions(now: number): Promise<void>;
  /** Resolves to the given time, or to that of PostgreSQL if it is earlier; for retention. */
  earlierNow(now: number): Promise<number>;
  /** Removes what is older than it is kept; resolves to how much of each kind. */
  removeOld(kept: KeptTimes, now: number): Promise<Readonly<Record<string, number>>>;
  /** Whether PostgreSQL answers. */
  ping(): Promise<boolean>;
  /** Those of this process. */
  writers(): readonly WriterStatus[];
  /** Flushes the writers, then closes the pool. */
  close(): Promise<void>;
}
