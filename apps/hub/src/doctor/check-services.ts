/** Checks PostgreSQL, Redis, the file storage and the disk. */
import { constants } from 'node:fs';
import { access, readFile, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkRedis } from '@flotilla/bus';
import { checkDatabase, openEmbeddedPostgres, pendingMigrations } from '@flotilla/registry';
import type { DatabaseFacts, PendingMigrations } from '@flotilla/registry';
import { INCOMING_FOLDER, openBlobStore } from '@flotilla/storage';
import type { DoctorContext } from './doctor-context.js';
import { ok, problem, warning, type Finding } from './finding.js';

/** The oldest version with all that the schema needs. */
const POSTGRES_MIN = 150_000;
/** Each call needs some round trips, ms. */
const LATENCY_WARNS_MS = 20;
const CLOCK_WARNS_MS = 2_000;
/** Connections of one process of the hub, at most. */
const HUB_CONNECTIONS = 30;
const DISK_BYTES_MIN = 1024 ** 3;
const DISK_SHARE_MIN = 0.05;

export async function checkPostgres({ config, now }: DoctorContext): Promise<readonly Finding[]> {
  const { databaseUrl, dataDir } = config;
  if (databaseUrl === undefined && !(await exists(path.join(dataDir, 'postgres.password'))))
    return [ok('PostgreSQL', 'embedded; the first start creates it')];
  const embedded = databaseUrl === undefined ? await openEmbeddedPostgres(dataDir) : undefined;
  try {
    const url = databaseUrl ?? embedded?.databaseUrl ?? '';
    return [...databaseFindings(await checkDatabase(url, now)), await schemaFinding(url)];
  } finally {
    await embedded?.close();
  }
}

export function databaseFindings(facts: DatabaseFacts): readonly Finding[] {
  const check = 'PostgreSQL';
  const { version, versionNumber, settings, connections, latencyMs, clockAheadMs, encoding } = facts;
  const isOff = (['fsync', 'full_page_writes'] as const).filter((name) => settings[name] === 'off');
  const free = connections.max - connections.used;
  return [
    versionNumber < POSTGRES_MIN
      ? problem(check, `version ${version}`, 'Upgrade it to 15 or newer.')
      : ok(check, `version ${version}`),
    latencyMs > LATENCY_WARNS_MS
      ? warning(check, `answers in ${latencyMs} ms`, 'Run it near the hub: each call needs several answers.')
      : ok(check, `answers in ${latencyMs} ms`),
    Math.abs(clockAheadMs) > CLOCK_WARNS_MS
      ? warning(check, `its clock differs by ${clockAheadMs} ms`, 'Synchronize the clocks of both machines (NTP).')
      : ok(check, `its clock differs by ${clockAheadMs} ms`),
    ...(encoding === 'UTF8' ? [] : [problem(check, `encoding ${encoding}`, 'Create the database with UTF8.')]),
    ...isOff.map((name) => problem(check, `${name} is off`, `Set ${name}=on: a crash can destroy the database.`)),
    ...(settings.default_transaction_read_only === 'on'
      ? [problem(check, 'accepts no writes', 'Name the primary in DATABASE_URL.')]
      : []),
    free < HUB_CONNECTIONS
      ? warning(
          check,
          `${connections.used} of ${connections.max} connections are in use`,
          `Raise max_connections: each process of the hub uses up to ${HUB_CONNECTIONS}.`,
        )
      : ok(check, `${connections.used} of ${connections.max} connections are in use`),
  ];
}

async function schemaFinding(databaseUrl: string): Promise<Finding> {
  return schemaFindingOf(await pendingMigrations(databaseUrl));
}

/** A former version runs on the tables of the next one, because migrations only add. */
export function schemaFindingOf({
  isInstalled,
  pending,
  unknown,
}: Pick<PendingMigrations, 'isInstalled' | 'pending' | 'unknown'>): Finding {
  if (unknown.length > 0 && pending.length > 0)
    return problem(
      'schema',
      `has ${unknown.join(', ')} and lacks ${pending.join(', ')}`,
      'Install the version that made it, or a newer one.',
    );
  if (unknown.length > 0)
    return warning(
      'schema',
      `is of a newer version (${unknown.join(', ')})`,
      'This version can run on it if it is at most one minor version older. Run: flotilla-hub upgrade --check',
    );
  if (!isInstalled) return ok('schema', 'none yet; the first start creates it');
  return pending.length === 0
    ? ok('schema', 'is of this version')
    : warning(
        'schema',
        `the next start runs ${pending.join(', ')}`,
        'Make a backup first: flotilla-hub upgrade --check',
      );
}

export async function checkRedisServer({ config, now }: DoctorContext): Promise<readonly Finding[]> {
  const { redis } = config;
  if (redis === undefined) return [];
  const redisCa = redis.caFile === undefined ? undefined : await readFile(redis.caFile, 'utf8');
  const {
    version,
    policy,
    latencyMs,
    clockAheadMs,
    problem: wrong,
  } = await checkRedis({ redisUrl: redis.url, redisCa, now });
  const check = 'Redis';
  return [
    wrong === undefined ? ok(check, `version ${version}`) : problem(check, wrong, 'Correct REDIS_URL.'),
    policy === 'noeviction'
      ? ok(check, 'maxmemory-policy is noeviction')
      : policy === undefined
        ? warning(check, 'its maxmemory-policy cannot be read', 'Make sure that it is noeviction.')
        : problem(check, `maxmemory-policy is ${policy}`, 'Set it to noeviction, or Redis removes wake-ups of jobs.'),
    latencyMs > LATENCY_WARNS_MS
      ? warning(check, `answers in ${latencyMs} ms`, 'Run it near the hub.')
      : ok(check, `answers in ${latencyMs} ms`),
    Math.abs(clockAheadMs) > CLOCK_WARNS_MS
      ? warning(check, `its clock differs by ${clockAheadMs} ms`, 'Synchronize the clocks of both machines (NTP).')
      : ok(check, `its clock differs by ${clockAheadMs} ms`),
  ];
}

export async function checkStorage({ config, isAnswering }: DoctorContext): Promise<readonly Finding[]> {
  const { url } = config.storage;
  const shown = url.protocol === 'file:' ? fileURLToPath(url) : url.href;
  if (url.protocol === 'file:' && !(await exists(shown)))
    return [ok('storage', `${shown} does not exist yet; the first file creates it`)];
  if (url.protocol === 'file:' && !isAnswering && !(await exists(path.join(shown, INCOMING_FOLDER)))) {
    await access(shown, constants.R_OK | constants.W_OK | constants.X_OK);
    return [ok('storage', `${shown} can be used; the next start prepares it`)];
  }
  // Of another user, what the doctor makes here would keep the hub out.
  const blobs = await openBlobStore({ ...config.storage, isAlone: false, isReadOnly: true });
  try {
    await blobs.check();
    return [ok('storage', `${shown} can be used`)];
  } finally {
    await blobs.close();
  }
}

/** The folder of the data and the one of the files, or where they will be. */
export async function checkDisk({ config }: DoctorContext): Promise<readonly Finding[]> {
  const { url } = config.storage;
  const files = url.protocol === 'file:' ? [fileURLToPath(url)] : [];
  const folders = await Promise.all([path.resolve(config.dataDir), ...files].map(existingParent));
  return Promise.all([...new Set(folders)].map(diskFinding));
}

async function diskFinding(folder: string): Promise<Finding> {
  const { bavail, blocks, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const share = blocks === 0 ? 1 : bavail / blocks;
  const found = `${folder}: ${(free / 1024 ** 3).toFixed(1)} GiB free (${Math.round(share * 100)} %)`;
  return free < DISK_BYTES_MIN || share < DISK_SHARE_MIN
    ? warning('disk', found, 'Free some space: without it the hub answers UNAVAILABLE.')
    : ok('disk', found);
}

async function existingParent(folder: string): Promise<string> {
  const parent = path.dirname(folder);
  return parent === folder || (await exists(folder)) ? folder : existingParent(parent);
}

function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}
