import { randomUUID } from 'node:crypto';
import type { DeviceId } from '@flotilla/mcp';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from './database/database.js';
import { Prisma } from './generated/prisma/client.js';
import type { Registry } from './index.js';
import { openRegistry } from './index.js';
import { silentLogger } from './registry-logger.js';
import { openTestDatabase } from './test-database.js';
import type { TestDatabase } from './test-database.js';

let testDatabase: TestDatabase;
let registry: Registry;

beforeAll(async () => {
  testDatabase = await openTestDatabase();
  registry = await openRegistry({ databaseUrl: testDatabase.databaseUrl });
});

afterAll(async () => {
  await registry.close();
  await testDatabase.close();
});

async function ask(databaseUrl: string, sql: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows[0];
  } finally {
    await client.end();
  }
}

describe('migrations', () => {
  it('make every table as the generated client knows it', async () => {
    const database = new Database(testDatabase.databaseUrl, 2, silentLogger);
    for (const model of Object.values(Prisma.ModelName)) {
      const table: unknown = Reflect.get(database.prisma, model.charAt(0).toLowerCase() + model.slice(1));
      if (
        typeof table !== 'object' ||
        table === null ||
        !('findFirst' in table) ||
        typeof table.findFirst !== 'function'
      )
        throw new TypeError(model);
      await expect(table.findFirst(), model).resolves.toBeDefined();
    }
    await database.close();
  });

  it('are applied once by hubs that start at the same moment on an empty database', async () => {
    const name = `empty_${randomUUID().replaceAll('-', '')}`;
    await ask(testDatabase.databaseUrl, `CREATE DATABASE ${name}`);
    const url = new URL(testDatabase.databaseUrl);
    url.pathname = `/${name}`;
    const registries = await Promise.all([1, 2, 3].map(() => openRegistry({ databaseUrl: url.href, poolMax: 2 })));
    expect(
      await ask(
        url.href,
        `SELECT count(*)::int AS count, bool_and(finished_at IS NOT NULL) AS done FROM _prisma_migrations`,
      ),
    ).toMatchObject({ done: true });
    expect(await ask(url.href, `SELECT count(*)::int AS count FROM tool_policy`)).toEqual({ count: 14 });
    for (const each of registries) await each.close();
  });

  it('continue after a start that was killed during a migration', async () => {
    const databaseUrl = await databaseWithMigration(`('x', 'x', NULL, '0001_first_tables')`);
    const opened = await openRegistry({ databaseUrl, poolMax: 2 });
    expect(await opened.ping()).toBe(true);
    await opened.close();
  });

  it('refuse a database of an unreleased version, and say what to do', async () => {
    const databaseUrl = await databaseWithMigration(`('x', 'x', now(), '20261121000000_first_tables')`);
    await expect(openRegistry({ databaseUrl, poolMax: 2 })).rejects.toMatchObject({
      code: 'MIGRATION_FAILED',
      message: expect.stringMatching(/created by an unreleased version of Flotilla.* Start with an empty database/),
    });
  });
});

/** A database whose table of migrations has this row, and that has nothing else. */
async function databaseWithMigration(row: string): Promise<string> {
  const url = new URL(testDatabase.databaseUrl);
  url.pathname = `/migrated_${randomUUID().replaceAll('-', '')}`;
  await ask(testDatabase.databaseUrl, `CREATE DATABASE ${url.pathname.slice(1)}`);
  await ask(
    url.href,
    `CREATE TABLE _prisma_migrations (id varchar(36) PRIMARY KEY, checksum varchar(64) NOT NULL,
       finished_at timestamptz, migration_name varchar(255) NOT NULL, logs text, rolled_back_at timestamptz,
       started_at timestamptz NOT NULL DEFAULT now(), applied_steps_count integer NOT NULL DEFAULT 0)`,
  );
  await ask(url.href, `INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name) VALUES ${row}`);
  return url.href;
}

describe('a database of another user', () => {
  it('is refused in one sentence when its user may not make tables', async () => {
    const role = `weak_${randomUUID().replaceAll('-', '')}`;
    await ask(testDatabase.databaseUrl, `CREATE ROLE ${role} LOGIN PASSWORD 'weak'`);
    const url = new URL(testDatabase.databaseUrl);
    url.username = role;
    url.password = 'weak';
    await expect(openRegistry({ databaseUrl: url.href })).rejects.toMatchObject({
      code: 'DATABASE_REFUSED',
      message: expect.stringMatching(
        new RegExp(`^The user "${role}" may not create schemas .+ owner of the database\\.$`),
      ),
    });
    await ask(testDatabase.databaseUrl, `DROP ROLE ${role}`);
  });

  it('is named with the reason, and without the password, when it rejects the connection', async () => {
    const url = new URL(testDatabase.databaseUrl);
    url.password = 'not-it';
    const message = await openRegistry({ databaseUrl: url.href }).catch(String);
    expect(message).toContain(
      `Cannot connect to PostgreSQL at ${url.host}${url.pathname}: password authentication failed`,
    );
    expect(message).not.toContain('not-it');
  });
});

describe('the registry', () => {
  it('says that PostgreSQL cannot be reached', async () => {
    await expect(openRegistry({ databaseUrl: 'postgres://127.0.0.1:1/none' })).rejects.toMatchObject({
      code: 'DATABASE_UNAVAILABLE',
    });
  });

  it('ships the tool policies', async () => {
    const policies = new Map((await registry.toolPolicies.all()).map((policy) => [policy.pattern, policy]));
    expect(policies.get('self.get_*')).toMatchObject({ idempotent: true, disruptive: false, callTimeoutMs: 60_000 });
    expect(policies.get('self.reboot')).toMatchObject({
      idempotent: false,
      disruptive: true,
      disconnectExpected: true,
      verification: 'REBOOT',
    });
    expect(policies.get('self.screen.set_theme')).toMatchObject({
      failureText: 'false',
      readback: { argument: 'theme' },
    });
    expect(policies.get('self.camera.take_photo')?.callTimeoutMs).toBe(75_000);
  });

  it('flushes its writers on close', async () => {
    const other = await openRegistry({ databaseUrl: testDatabase.databaseUrl });
    other.events.append({ type: 'device.will', deviceId: 'd' as DeviceId, at: Date.now(), data: {} });
    await other.close();
    expect((await registry.events.page({ types: ['device.will'] }, 'AT_ASC', { first: 1 })).rows).toHaveLength(1);
  });
});

describe('API keys', () => {
  it('begin with one admin key, created once, and accept a given one at any later start', async () => {
    const secret = await registry.apiKeys.ensureAdminKey(undefined);
    expect(secret).toMatch(/^flt_[\w-]{43}$/);
    expect(await registry.apiKeys.ensureAdminKey(undefined)).toBeUndefined();
    expect(await registry.apiKeys.authenticate(secret ?? '')).toMatchObject({
      name: 'admin',
      scopes: expect.arrayContaining(['ADMIN', 'TOOLS_CALL']),
    });
    const given = 'g'.repeat(32);
    expect(await registry.apiKeys.ensureAdminKey(given)).toBeUndefined();
    expect(await registry.apiKeys.ensureAdminKey(given)).toBeUndefined();
    expect(await registry.apiKeys.authenticate(given)).toMatchObject({ name: 'admin' });
    await expect(registry.apiKeys.ensureAdminKey('short')).rejects.toMatchObject({ code: 'ARGUMENT_INVALID' });
  });

  it('have no admin key that could not be stored, and store no given one', async () => {
    const database = await openTestDatabase();
    const { apiKeys, close } = await openRegistry({ databaseUrl: database.databaseUrl });
    try {
      const full = () => Promise.reject(new Error('disk full'));
      await expect(apiKeys.ensureAdminKey(undefined, full)).rejects.toThrow('disk full');
      const kept: string[] = [];
      const keep = (secret: string) => Promise.resolve(void kept.push(secret));
      expect(await apiKeys.ensureAdminKey(undefined, keep)).toBe(kept[0]);
      await apiKeys.ensureAdminKey('g'.repeat(32), keep);
      expect(kept).toHaveLength(1);
    } finally {
      await close();
      await database.close();
    }
  });

  it('do not accept other secrets, nor revoked or expired keys', async () => {
    for (const secret of ['', 'x', 'y'.repeat(5_000), 'flt_\0'])
      expect(await registry.apiKeys.authenticate(secret)).toBeUndefined();
    for (const [index, end] of ['revoked_at', 'expires_at'].entries()) {
      const secret = `${end}-`.repeat(8);
      await registry.apiKeys.ensureAdminKey(secret);
      await ask(testDatabase.databaseUrl, `UPDATE api_key SET ${end} = now() WHERE prefix = '${secret.slice(0, 8)}'`);
      expect(await registry.apiKeys.authenticate(secret), String(index)).toBeUndefined();
    }
  });

  it('are nowhere in the database', async () => {
    const secret = 'do-not-keep-me-'.repeat(4);
    await registry.apiKeys.ensureAdminKey(secret);
    expect(
      await ask(
        testDatabase.databaseUrl,
        `SELECT count(*)::int AS count FROM api_key k WHERE k::text LIKE '%keep-me-do%'`,
      ),
    ).toEqual({
      count: 0,
    });
  });
});
