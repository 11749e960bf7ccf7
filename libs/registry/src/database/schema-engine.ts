/**
 * Prisma's schema engine as WebAssembly over the pg driver: applies migrations without the CLI, a
 * downloaded binary or a shadow database. It knows nothing of when that may be done; migrate.ts
 * does.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import type { SqlMigrationAwareDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import * as glue from '@prisma/schema-engine-wasm/schema_engine_bg';
import type pg from 'pg';

/** One folder of prisma/migrations. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
}

/** Node has it; the types of Node 20 do not. */
declare const WebAssembly: {
  instantiate(
    bytes: Uint8Array,
    imports: Readonly<Record<string, object>>,
  ): Promise<{ readonly instance: { readonly exports: Readonly<Record<string, unknown>> } }>;
};

let loaded: Promise<void> | undefined;

/** The module's own loader fetches its file by URL, which Node cannot do for files. */
async function loadEngine(): Promise<void> {
  const folder = path.dirname(createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm'));
  const bytes = await readFile(path.join(folder, 'schema_engine_bg.wasm'));
  const { exports } = (await WebAssembly.instantiate(bytes, { './schema_engine_bg.js': { ...glue } })).instance;
  glue.__wbg_set_wasm(exports);
  const start = exports['__wbindgen_start'];
  if (typeof start === 'function') start();
}

/**
 * A transaction with a script has it. PostgreSQL goes on with the script of a process that was
 * killed, after the connection with the lock of all migrations has ended.
 */
const SCRIPT_LOCK = 4_607_182_424;

/**
 * All who use a table wait behind a script that waits for it, so a script waits briefly and is then
 * repeated. A backup reads tables for hours.
 */
const LOCK_TIMEOUT = '2s';
const REPEAT_AFTER_MS = 5_000;
/** Of the first attempt, and about one per minute. */
const ATTEMPTS_PER_REPORT = 9;
/** SQLSTATE: a lock timeout, and a deadlock with a process of the former version. */
const BLOCKED: readonly unknown[] = ['55P03', '40P01'];

/** Resolves when no script runs that a process has left. */
export async function scriptsEnded(client: pg.ClientBase): Promise<void> {
  await client.query('SELECT pg_advisory_xact_lock($1)', [SCRIPT_LOCK]);
}

/**
 * The adapter splits scripts at each semicolon. This one sends a script and its mark as one
 * transaction, so that both are there or neither.
 */
function wholeScriptFactory(
  pool: pg.Pool,
  onWait: (reason: string) => void,
  onError: (error: unknown) => void,
): SqlMigrationAwareDriverAdapterFactory {
  const factory = new PrismaPg(pool);
  return {
    provider: factory.provider,
    adapterName: factory.adapterName,
    connectToShadowDb: () => factory.connectToShadowDb(),
    async connect() {
      const adapter = await factory.connect();
      adapter.executeScript = async (script) => {
        const isOwnTable = script.includes('_prisma_migrations');
        try {
          await (isOwnTable ? pool.query(script) : runScript(pool, script, onWait));
        } catch (error) {
          onError(error);
          throw error;
        }
      };
      return adapter;
    },
  };
}

async function runScript(pool: pg.Pool, script: string, onWait: (reason: string) => void): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      await pool.query(`${BEGIN_SCRIPT};${script}\n;${MARK_FINISHED}`);
      return;
    } catch (error) {
      if (!BLOCKED.includes((error as { readonly code?: unknown }).code)) throw error;
      if (attempt % ATTEMPTS_PER_REPORT === 0) onWait(await reasonOfWait(pool));
      await sleep(REPEAT_AFTER_MS);
    }
  }
}

const UNFINISHED = 'FROM "_prisma_migrations" WHERE finished_at IS NULL AND rolled_back_at IS NULL';
/** The attempt has ended: PostgreSQL no longer knows which of them it waited for. */
const OLDEST_TRANSACTIONS = `SELECT pid, xact_start, coalesce(nullif(application_name, ''), backend_type) AS name
  FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type IS DISTINCT FROM 'Lock'
    AND xact_start < now() - interval '${LOCK_TIMEOUT}' ORDER BY xact_start LIMIT 3`;

async function reasonOfWait(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<{ migration: string | null; transactions: string | null }>(
    `SELECT (SELECT migration_name ${UNFINISHED} LIMIT 1) AS migration,
            (SELECT string_agg(format('process %s (%s) since %s', pid, name, xact_start), ', ')
             FROM (${OLDEST_TRANSACTIONS}) t) AS transactions`,
  );
  const { migration, transactions } = rows[0] ?? {};
  return (
    `the migration ${migration ?? ''} waits for a table that long transactions use, such as a backup; trying again ` +
    `every few seconds. The oldest transactions in PostgreSQL: ${transactions ?? 'none any more'}`
  );
}

const BEGIN_SCRIPT = `SELECT pg_advisory_xact_lock(${SCRIPT_LOCK}); SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`;

/** A script whose mark another process has removed must not stay: it would be repeated. */
const MARK_FINISHED = `DO $$ BEGIN
  UPDATE "_prisma_migrations" SET finished_at = now() WHERE finished_at IS NULL AND rolled_back_at IS NULL;
  IF NOT FOUND THEN RAISE EXCEPTION 'another process has taken over the migrations'; END IF;
END $$`;

/**
 * Applies the missing migrations in order, and resolves to their names. Calls `onWait` when
 * one waits for a table, and again about every minute.
 */
export async function applyMigrations(
  pool: pg.Pool,
  migrations: readonly Migration[],
  onWait: (reason: string) => void,
): Promise<readonly string[]> {
  loaded ??= loadEngine();
  await loaded;
  let scriptError: unknown;
  const adapter = bindMigrationAwareSqlAdapterFactory(
    wholeScriptFactory(pool, onWait, (error) => (scriptError = error)),
  );
  const engine = await glue.SchemaEngine.new({ datamodels: undefined }, () => undefined, adapter);
  try {
    const { appliedMigrationNames } = await engine.applyMigrations({
      migrationsList: {
        baseDir: '',
        lockfile: { path: 'migration_lock.toml', content: 'provider = "postgresql"' },
        shadowDbInitScript: '',
        migrationDirectories: migrations.map(({ name, sql }) => ({
          path: name,
          migrationFile: { path: 'migration.sql', content: { tag: 'ok', value: sql } },
        })),
      },
      filters: { externalTables: [], externalEnums: [] },
    });
    return appliedMigrationNames;
  } catch (error) {
    // The engine's own error has only a number in place of that of PostgreSQL.
    throw scriptError ?? error;
  } finally {
    engine.free();
  }
}
