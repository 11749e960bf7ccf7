/**
 * Opens the registry: brings the database to this version's schema, then constructs the stores over
 * one pool. Closing goes the other way.
 */
import path from 'node:path';
import type { HubProcessId } from '@flotilla/mcp';
import { beginKeyedChain } from './audit/append-audit.js';
import { auditKeyOf } from './audit/audit-key.js';
import { AlertEvaluationStore } from './alerts/evaluation-store.js';
import { AlertRuleStore } from './alerts/alert-rule-store.js';
import { AlertStore } from './alerts/alert-store.js';
import { ChannelStore } from './alerts/channel-store.js';
import { NotificationOutbox } from './alerts/notification-outbox.js';
import { AuditStore } from './audit/audit-store.js';
import { Database } from './database/database.js';
import { makePartitions } from './database/partitions.js';
import { migrate } from './database/migrate.js';
import { DeviceStore } from './devices/device-store.js';
import { FleetFiguresStore } from './devices/fleet-figures.js';
import { VoiceServerStore } from './voice/voice-server-store.js';
import { DialStore } from './devices/dial-store.js';
import { ToolSetStore } from './tool-sets/tool-set-store.js';
import { DownloadStore } from './firmware/download-store.js';
import { FirmwareImageStore } from './firmware/firmware-image-store.js';
import { FirmwareSigningKeyStore } from './firmware/signing-key-store.js';
import { AppliedConfigurationStore } from './configuration/applied-configuration-store.js';
import { DeviceGroupStore } from './groups/device-group-store.js';
import { jobStoresOf } from './jobs/job-stores.js';
import { RolloutStore } from './jobs/rollout/rollout-store.js';
import { DesiredStateReads } from './desired-states/desired-state-reads.js';
import { DesiredStateStore } from './desired-states/desired-state-store.js';
import { DesiredStateQueue } from './desired-states/queue/desired-state-queue.js';
import { MeasurementStore } from './measurements/measurement-store.js';
import { RecordingRuleStore } from './measurements/recording-rule-store.js';
import { RestartStore } from './restarts/restart-store.js';
import { RecurringJobStore } from './recurring-jobs/recurring-job-store.js';
import { AgentGrantStore } from './grants/grant-store.js';
import { OauthStore } from './grants/oauth-store.js';
import { ApiKeyStore } from './keys/api-key-store.js';
import { SignInFailureStore } from './people/sign-in-failure-store.js';
import { UserSessionStore } from './people/user-session-store.js';
import { UserStore } from './people/user-store.js';
import { listGatewayPlaces } from './processes/gateway-places.js';
import { ProcessLeases } from './processes/process-leases.js';
import { listProcessWriters } from './processes/process-writers.js';
import { CredentialStore } from './provisioning/credentials/credential-store.js';
import { EnrolmentStore } from './provisioning/enrolments/enrolment-store.js';
import { MovingBoardStore } from './provisioning/moving/moving-board-store.js';
import { CredentialCache } from './provisioning/credentials/credential-cache.js';
import { CallStore } from './calls/call-store.js';
import { DisruptiveCallStore } from './calls/disruptive-call-store.js';
import { EventStore } from './events/event-store.js';
import { silentLogger } from './registry-logger.js';
import { ArgumentSeal } from './secrets/argument-seal.js';
import type { RegistryLogger } from './registry-logger.js';
import type { LeaseOptions, Registry } from './registry.js';
import { earlierNow } from './retention/earlier-now.js';
import { removeOld } from './retention/remove-old.js';
import { keepHubSecret } from './secrets/hub-secrets.js';
import { UploadStore } from './uploads/upload-store.js';
import { ToolPolicyStore } from './policies/tool-policy-store.js';
import { scopedView } from './access-scope/scoped-view.js';
import { WebhookStore } from './webhooks/webhook-store.js';

interface RegistryOptions {
  /** One server, as pg reads it, or several hosts: postgres-url.ts. */
  readonly databaseUrl: string;
  /** Connections of the pool: six writers, and room for questions. */
  readonly poolMax?: number;
  /** Where events go when their writer is full; without it they are dropped. */
  readonly dataDir?: string;
  readonly logger?: RegistryLogger;
  /** The secret of the audit chain, the same in all processes; without it hashes have no key. */
  readonly auditSecret?: string | Uint8Array | undefined;
  /**
   * Encrypts stored secret arguments and the settings of channels, the same in all processes;
   * random if it is missing.
   */
  readonly argumentsSecret?: string | Uint8Array | undefined;
}

const POOL_MAX = 12;

/** Throws RegistryError DATABASE_UNAVAILABLE, DATABASE_TOO_OLD or MIGRATION_FAILED. */
export async function openRegistry({
  databaseUrl,
  poolMax = POOL_MAX,
  dataDir,
  logger = silentLogger,
  auditSecret,
  argumentsSecret,
}: RegistryOptions): Promise<Registry> {
  const onWait = (reason: string) => logger.warn({}, reason);
  for (const name of await migrate(databaseUrl, { onWait })) logger.info({ migration: name }, 'database migrated');
  const database = new Database(
    databaseUrl,
    poolMax,
    logger,
    auditSecret === undefined ? undefined : auditKeyOf(auditSecret),
  );
  const seal = new ArgumentSeal(argumentsSecret);
  const events = new EventStore(database, dataDir && path.join(dataDir, 'events.spill'), logger);
  const leases = new ProcessLeases(database, events, logger);
  const holder = () => leases.holder;
  const toolSets = new ToolSetStore(database);
  const devices = new DeviceStore(database, toolSets, holder, logger);
  const calls = new CallStore(database, { seal, holder }, logger);
  const measurements = new MeasurementStore(database, logger);
  const restarts = new RestartStore(database, events, logger);
  const audit = new AuditStore(database, logger);
  const { credentials, enrolments, movingBoards } = provisioningStores(database, devices, logger);
  const downloads = new DownloadStore(database, logger);
  const rowWriters = { devices, events, calls, measurements, restarts, audit };
  const boardWriters = { credentials, enrolments, movingBoards, downloads };
  const close = closing([...Object.values(rowWriters), ...Object.values(boardWriters)], leases, database, logger);
  const stores = {
    ...plainStores(database, { seal, holder, events }),
    devices,
    toolSets,
    events,
    calls,
    measurements,
    restarts,
  };
  const writers = () => [
    ...devices.writers(),
    ...[events, calls, measurements, restarts, audit].map((writer) => writer.status()),
    ...Object.values(boardWriters).flatMap((store) => store.writers()),
  ];
  await makePartitions(database, Date.now(), logger);
  await beginAuditChain(database, logger);
  await events.open();
  return {
    ...stores,
    viewFor: ({ id, devices: within }) =>
      within === undefined ? stores : scopedView(stores, database, { creator: id, within }),
    ...callersOf(database, logger),
    ...boardWriters,
    audit,
    voiceServers: new VoiceServerStore(database),
    ...processesOf(database, leases, writers),
    hubSecret: (name) => keepHubSecret(database, name),
    makePartitions: (now) => makePartitions(database, now, logger),
    earlierNow: (now) => earlierNow(database, now),
    removeOld: (kept, now) => removeOld({ database, ...stores, logger }, kept, now),
    ping: () => ping(database),
    writers,
    close,
  };
}

/** What closes a registry: its writers first, so that no row is lost. Further calls do nothing. */
function closing(
  writers: readonly { close(): Promise<void> }[],
  leases: ProcessLeases,
  database: Database,
  logger: RegistryLogger,
): () => Promise<void> {
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await Promise.all(writers.map((writer) => writer.close()));
    await leases.close().catch((error: unknown) => {
      logger.warn({ err: error }, 'the lease of this process was not returned; it ends by itself');
    });
    await database.close();
  };
  return () => (closed ??= close());
}

function provisioningStores(database: Database, devices: DeviceStore, logger: RegistryLogger) {
  // For intervals only, which a step of the wall clock must not change.
  const cache = new CredentialCache(database, logger, () => performance.now());
  const deps = { database, logger, devices, cache, now: Date.now };
  return {
    credentials: new CredentialStore(deps),
    enrolments: new EnrolmentStore(deps),
    movingBoards: new MovingBoardStore(deps),
  };
}

function callersOf(database: Database, logger: RegistryLogger) {
  const userSessions = new UserSessionStore(database, logger);
  const agentGrants = new AgentGrantStore(database, logger);
  const users = new UserStore(database, () => {
    userSessions.forget();
    agentGrants.forget();
  });
  return { apiKeys: new ApiKeyStore(database, logger), agentGrants, userSessions, users };
}

function processesOf(database: Database, leases: ProcessLeases, writers: Registry['writers']) {
  return {
    takeLease: (options?: LeaseOptions) => leases.take(options, writers),
    sweepDeadProcesses: () => leases.sweep(),
    livingProcesses: () => leases.living(),
    successorRoles: () => leases.successorRoles(),
    isEldest: (role: string) => leases.isEldest(role),
    gatewayPlaces: () => listGatewayPlaces(database),
    processWriters: () => listProcessWriters(database),
  };
}

async function ping(database: Database): Promise<boolean> {
  return database.query({ text: 'SELECT 1' }, []).then(
    () => true,
    () => false,
  );
}

/**
 * From now on with the key of this process. Another one before it was replaced, or is that of a
 * process with other settings.
 */
async function beginAuditChain(database: Database, logger: RegistryLogger): Promise<void> {
  const formerKeyId = await database.transaction((transaction) => beginKeyedChain(transaction, Date.now()));
  if (formerKeyId === undefined) return;
  const keyIds = { keyId: database.auditKey?.id, formerKeyId };
  logger.warn(
    keyIds,
    'the audit trail goes on with another key; give every process of this hub the same FLOTILLA_AUDIT_KEY',
  );
}

/** Those that keep nothing in memory. */
function plainStores(
  database: Database,
  parts: { readonly seal: ArgumentSeal; readonly holder: () => HubProcessId | undefined; readonly events: EventStore },
) {
  const { seal, holder, events } = parts;
  return {
    rollouts: new RolloutStore(database, holder),
    fleetFigures: new FleetFiguresStore(database),
    deviceGroups: new DeviceGroupStore(database),
    dials: new DialStore(database),
    ...jobStoresOf(database, events, seal),
    recordingRules: new RecordingRuleStore(database),
    recurringJobs: new RecurringJobStore(database, seal),
    desiredStateStore: new DesiredStateStore(database, seal),
    desiredStateQueue: new DesiredStateQueue(database),
    desiredStates: new DesiredStateReads(database),
    appliedConfigurations: new AppliedConfigurationStore(database),
    uploads: new UploadStore(database),
    toolPolicies: new ToolPolicyStore(database),
    signInFailures: new SignInFailureStore(database),
    firmwareImages: new FirmwareImageStore(database),
    signingKeys: new FirmwareSigningKeyStore(database),
    disruptiveCalls: new DisruptiveCallStore(database),
    webhooks: new WebhookStore(database),
    oauth: new OauthStore(database),
    alertRules: new AlertRuleStore(database),
    alerts: new AlertStore(database, events),
    alertEvaluation: new AlertEvaluationStore(database, events),
    notificationChannels: new ChannelStore(database, seal),
    notificationOutbox: new NotificationOutbox(database, seal),
  };
}
