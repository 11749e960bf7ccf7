/** The services that all roles share: database, lease, bus, storage. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Logger } from 'pino';
import { openLocalBus, openRedisBus, type Bus, type CallTracer } from '@flotilla/bus';
import { ProcessWatch, SingleCalls } from '@flotilla/fleet';
import type { DialRules } from '@flotilla/gateway';
import { openPool, openRegistry, startEmbeddedPostgres, type ProcessLease, type Registry } from '@flotilla/registry';
import { openBlobStore, type BlobStore } from '@flotilla/storage';
import type { Closers } from '../closers.js';
import type { HubConfig, Role } from '../settings/config.js';
import { configuredPorts, dialRulesOf } from './dial-rules.js';
import { keeperOf } from '../secrets/first-secrets.js';
import type { RedisConfig } from '../settings/redis-settings.js';
import { argumentsSecretOf, auditSecretOf } from '../settings/secret-settings.js';
import { systemClock } from '../system-clock.js';

/** The version in package.json. */
const { version: hubVersion } = createRequire(import.meta.url)('../../package.json') as { readonly version: string };

export interface SharedServices {
  readonly config: HubConfig;
  readonly logger: Logger;
  readonly closers: Closers;
  readonly registry: Registry;
  readonly lease: ProcessLease;
  readonly bus: Bus;
  /** Undefined: no traces are recorded. */
  readonly tracer: CallTracer | undefined;
  /** Watches the other processes of the hub. */
  readonly processes: ProcessWatch;
  readonly blobs: BlobStore;
  /** Counts single calls of all parts of this process. */
  readonly singleCalls: SingleCalls;
  /**
   * Where the hub may connect to microcontrollers. Its ports are added when its listeners are open.
   */
  readonly dialRules: DialRules;
  readonly ownPorts: Set<number>;
  readonly has: (role: Role) => boolean;
}

export async function openSharedServices(
  { config, logger }: Pick<SharedServices, 'config' | 'logger'>,
  closers: Closers,
): Promise<SharedServices> {
  const databaseUrl = config.databaseUrl ?? (await openEmbedded(config, logger, closers));
  const secrets = { auditSecret: await auditSecretOf(config), argumentsSecret: await argumentsSecretOf(config) };
  const registry = await openRegistry({ databaseUrl, logger, dataDir: config.dataDir, ...secrets });
  closers.add('registry', () => registry.close());
  // No other process uses an embedded database, so processes in its rows are dead, even with a
  // valid lease.
  const { roles } = config;
  const lease = await registry.takeLease({
    aloneOnDatabase: config.databaseUrl === undefined,
    roles,
    version: hubVersion,
  });
  closers.add('lease', () => lease.release());
  await ensureAdminKey(config, registry);
  const tracer = await openTracer(config, lease, logger, closers);
  const bus = config.redis
    ? await openSharedBus(config.redis, registry, logger)
    : await openLocalBus({ openPool: (options) => openPool(databaseUrl, options), logger });
  closers.add('bus', () => bus.close());
  const processes = new ProcessWatch({ registry, clock: systemClock, logger });
  processes.add(bus.calls);
  closers.add('watch of processes', () => processes.stop());
  const blobs = await openStorage(config, logger, closers);
  const singleCalls = new SingleCalls(systemClock);
  const ownPorts = new Set(configuredPorts(config));
  const dialRules = dialRulesOf(config, databaseUrl, () => [...ownPorts]);
  const has = (role: Role) => config.roles.includes(role);
  const shared = { config, logger, closers, registry, lease, bus, tracer, processes };
  return { ...shared, blobs, singleCalls, dialRules, ownPorts, has };
}

/** Closed after the roles, so that the spans of the last calls are sent. */
async function openTracer(
  { traces }: HubConfig,
  lease: ProcessLease,
  logger: Logger,
  closers: Closers,
): Promise<CallTracer | undefined> {
  if (traces === undefined) return undefined;
  const { traceCalls } = await import('../measures/trace-calls.js');
  const tracer = traceCalls(traces, { version: hubVersion, processId: lease.id }, logger);
  closers.add('traces', () => tracer.close());
  return tracer;
}

/** The secret that signs messages is in the database, whose readers have full access anyway. */
async function openSharedBus({ url, caFile }: RedisConfig, registry: Registry, logger: Logger): Promise<Bus> {
  const redisCa = caFile && (await readFile(caFile, 'utf8'));
  return openRedisBus({ redisUrl: url, redisCa, secret: await registry.hubSecret('bus'), logger });
}

/** Logs when the storage does not answer, and starts anyway, so that devices can connect. */
async function openStorage({ databaseUrl, storage }: HubConfig, logger: Logger, closers: Closers): Promise<BlobStore> {
  const blobs = await openBlobStore({ ...storage, isAlone: databaseUrl === undefined });
  closers.add('storage', () => blobs.close());
  void blobs
    .check()
    .catch((error: unknown) =>
      logger.error({ err: error }, 'the file storage does not answer: files cannot be stored until it does'),
    );
  return blobs;
}

async function openEmbedded(config: HubConfig, logger: Logger, closers: Closers): Promise<string> {
  const postgres = await startEmbeddedPostgres({ dataDir: config.dataDir, logger });
  closers.add('embedded PostgreSQL', () => postgres.stop());
  if (postgres.notice) logger.info(postgres.notice);
  return postgres.databaseUrl;
}

/**
 * Uses the key of the settings from now on. Without any key, the process with the role api creates
 * one.
 */
async function ensureAdminKey(config: HubConfig, { apiKeys }: Registry): Promise<void> {
  if (config.adminKey === undefined && !config.roles.includes('api')) return;
  await apiKeys.ensureAdminKey(config.adminKey, keeperOf(config, { file: 'admin.key', what: 'admin key' }));
}
