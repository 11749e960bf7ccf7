/**
 * Changes beside others that lock the same rows in order: devices by id as the batches of sessions,
 * credentials by generation as the batch of their uses, accounts before their sessions.
 */
import type { DeviceId } from '@flotilla/mcp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ProcessLeases } from '../processes/process-leases.js';
import { openRegistryFixture } from '../registry-fixture.suite.js';
import type { RegistryFixture } from '../registry-fixture.suite.js';
import { silentLogger } from '../registry-logger.js';
import { Database } from './database.js';

const DAY_MS = 86_400_000;
/** Who waits for the asking connection. In a transaction, pg_stat_activity would not change. */
const WAITING = 'SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))';

let fixture: RegistryFixture;

beforeAll(async () => {
  fixture = await openRegistryFixture();
});
afterAll(() => fixture.close());

/** Stored one after the other, so that the table has them in this order. */
async function register(...ids: string[]): Promise<void> {
  for (const id of ids) {
    const board = { deviceId: id as DeviceId, name: undefined, tags: [], dialect: 'MCPU', transport: 'MQTT' } as const;
    expect((await fixture.registry.enrolments.register([board])).kind).toBe('registered');
  }
}

/** Begins a change while a batch has the first row, and lets the batch go on to the second. */
async function meetBatch<Result>(
  [first, second]: readonly [string, string],
  change: () => Promise<Result>,
): Promise<Result> {
  const { raw } = fixture;
  await raw.query(`BEGIN; SET LOCAL deadlock_timeout = '10s'; SELECT FROM ${first} FOR UPDATE`);
  const changed = change();
  changed.catch(() => undefined);
  await expect.poll(async () => (await raw.query(WAITING)).rowCount).toBe(1);
  await raw.query(`SELECT FROM ${second} FOR UPDATE; COMMIT`);
  return changed;
}

const deviceRow = (id: string) => `device WHERE id = '${id}'`;

it('a user is deleted while the password changes, which locks the account before its sessions', async () => {
  const { raw, registry } = fixture;
  const asked = { at: Date.now(), by: undefined };
  const answer = await registry.users.create(
    { name: 'Ada', email: 'ada@example.com', role: 'VIEWER' },
    { ...asked, usersMax: 10 },
  );
  const id = 'user' in answer ? answer.user.id : '';
  await raw.query(
    `INSERT INTO user_session (id, user_id, token_hash, expires_at) VALUES (gen_random_uuid(), $1, 'spec', now())`,
    [id],
  );
  const rows = [`user_account WHERE id = '${id}'`, `user_session WHERE user_id = '${id}'`] as const;
  expect(await meetBatch(rows, () => registry.users.remove(id, asked))).toMatchObject({ user: { name: 'Ada' } });
});

describe('beside a batch, whose rows are locked in order', () => {
  it('a credential is rotated', async () => {
    await register('rotated');
    const { credentials } = fixture.registry;
    for (const at of [Date.now(), Date.now() - DAY_MS - 1_000]) await credentials.rotate('rotated', at);
    const row = (generation: number) =>
      `device_credential WHERE device_id = 'rotated' AND generation = ${String(generation)}`;
    // The second generation has expired, so the rotation deletes it, and then retires the others.
    const rotated = await meetBatch([row(1), row(2)], () => credentials.rotate('rotated', Date.now()));
    expect(rotated?.secret).toMatch(/^[\w-]{43}$/);
  });

  it('the transport of devices is set', async () => {
    await register('moved-b', 'moved-a');
    const ids = ['moved-a', 'moved-b'];
    const changed = await meetBatch([deviceRow('moved-a'), deviceRow('moved-b')], () =>
      fixture.registry.credentials.setTransports(ids, 'WEBSOCKET'),
    );
    expect([...changed].sort()).toEqual(ids);
  });

  it('devices are removed', async () => {
    await register('gone-b', 'gone-a');
    const removed = await meetBatch([deviceRow('gone-a'), deviceRow('gone-b')], () =>
      fixture.registry.enrolments.removeMany(['gone-a', 'gone-b']),
    );
    expect(removed.map(({ id }) => id).sort()).toEqual(['gone-a', 'gone-b']);
  });

  it('the devices of a dead process go offline', async () => {
    await register('lost-b', 'lost-a');
    const { databaseUrl, raw } = fixture;
    await raw.query(`
      WITH dead AS (
        INSERT INTO hub_process (id, host, pid, started_at, lease_until)
        VALUES (gen_random_uuid(), 'spec', 1, now(), now() - interval '1 s') RETURNING id)
      UPDATE device SET online = true, gateway_id = (SELECT id FROM dead) WHERE id LIKE 'lost-%'`);
    const database = new Database(databaseUrl, 2, silentLogger);
    const leases = new ProcessLeases(database, fixture.registry.events, silentLogger, {
      leaseMs: 5_000,
      renewEveryMs: 1_000,
      retryAfterMs: 100,
    });
    try {
      await meetBatch([deviceRow('lost-a'), deviceRow('lost-b')], () => leases.take({ aloneOnDatabase: true }));
      const { rows } = await raw.query(`SELECT online FROM device WHERE id LIKE 'lost-%'`);
      expect(rows).toEqual([{ online: false }, { online: false }]);
    } finally {
      await leases.close();
      await database.close();
    }
  });
});
