import { v7 } from 'uuid';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Database } from '../database/database.js';
import type { Queryable, Statement } from '../database/database.js';
import { listGatewayPlaces } from './gateway-places.js';
import { ProcessLeases } from './process-leases.js';
import { listProcessWriters } from './process-writers.js';
import type { ProcessLease } from '../registry.js';
import { RegistryError } from '../registry-error.js';
import { silentLogger } from '../registry-logger.js';
import { openTestDatabase } from '../test-database.js';
import type { TestDatabase } from '../test-database.js';

/** As in the product, fifteen times as fast. */
const timing = { leaseMs: 1_000, renewEveryMs: 300, retryAfterMs: 100 };

let testDatabase: TestDatabase;
let database: Database;
let isAway: boolean;
let opened: ProcessLeases[];
const events = { append: () => expect.unreachable('No session ends here.') };

/** PostgreSQL, as long as it is there. */
const reachable: Queryable = {
  query: <Row extends Record<string, unknown>>(statement: Statement, values: unknown[]): Promise<readonly Row[]> =>
    isAway ? Promise.reject(new RegistryError('DATABASE_UNAVAILABLE', 'away')) : database.query<Row>(statement, values),
};

function anotherProcess(): ProcessLeases {
  const leases = new ProcessLeases(reachable, events, silentLogger, timing);
  opened.push(leases);
  return leases;
}

/** The row of a process that was killed. */
async function deadProcess(): Promise<string> {
  const id = v7();
  await database.query(
    {
      text: `INSERT INTO hub_process (id, host, pid, started_at, lease_until)
             VALUES ($1, 'spec', 1, now(), now() - interval '1 second')`,
    },
    [id],
  );
  return id;
}

async function idsWhere(condition: string): Promise<readonly string[]> {
  const rows = await database.query<{ id: string }>(
    { text: `SELECT id FROM hub_process WHERE ${condition} ORDER BY id` },
    [],
  );
  return rows.map(({ id }) => id);
}

const present = () => idsWhere('lease_until > now()');
const all = () => idsWhere('true');

const isLost = (lease: ProcessLease) => Promise.race([lease.lost.then(() => true), Promise.resolve(false)]);

beforeEach(async () => {
  isAway = false;
  opened = [];
  testDatabase = await openTestDatabase();
  database = new Database(testDatabase.databaseUrl, 4, silentLogger);
});
afterEach(async () => {
  isAway = false;
  for (const leases of opened) await leases.close();
  await database.close();
  await testDatabase.close();
});

describe('a lease that lapsed while PostgreSQL was away', () => {
  it('is revived by the next renewal, for all processes and in any order', async () => {
    const processes = [anotherProcess(), anotherProcess()] as const;
    const leases = [await processes[0].take(), await processes[1].take()];
    isAway = true;
    await expect.poll(present, { timeout: 5_000 }).toEqual([]);
    isAway = false;
    // Everybody sweeps all the time, as impatient workers would.
    const ids = leases.map(({ id }) => id);
    const sweepAndLook = async () => {
      for (const each of processes) await each.sweep();
      return present();
    };
    await expect.poll(sweepAndLook, { timeout: 5_000, interval: 5 }).toEqual(ids);
    const dead = await deadProcess();
    await expect.poll(async () => (await sweepAndLook()) && all(), { timeout: 5_000, interval: 5 }).not.toContain(dead);
    expect(await present()).toEqual(ids);
    expect(await Promise.all(leases.map(isLost))).toEqual([false, false]);
  });

  it('is lost once another process has ended it', async () => {
    const lease = await anotherProcess().take();
    isAway = true;
    await expect.poll(present, { timeout: 5_000 }).toEqual([]);
    expect(await isLost(lease)).toBe(false);
    const successor = new ProcessLeases(database, events, silentLogger, timing);
    opened.push(successor);
    await successor.take();
    await expect.poll(async () => (await successor.sweep()) && (await all()).length, { timeout: 5_000 }).toBe(1);
    isAway = false;
    await expect(lease.lost).resolves.toBeUndefined();
  });
});

describe('leases after a failover to a server whose clock is ahead', () => {
  it.each([60_000, 850])('of %i ms are revived: no process ends a living one, or misses it', async (aheadMs) => {
    const processes = [anotherProcess(), anotherProcess()] as const;
    const leases = [await processes[0].take(), await processes[1].take()];
    const ids = leases.map(({ id }) => id);
    await expect.poll(() => processes[0].living(), { timeout: 5_000 }).toEqual(new Set(ids));
    for (let failovers = 0; failovers < 3; failovers += 1) {
      await expect.poll(() => processes[failovers % 2]?.living(), { timeout: 5_000 }).toEqual(new Set(ids));
      await untilSteady();
      const text = `UPDATE hub_process SET lease_until = lease_until - $1 * interval '1 millisecond'`;
      await database.query({ text }, [aheadMs]);
      for (const until = Date.now() + 2 * timing.renewEveryMs; Date.now() < until;) {
        for (const each of processes) await each.sweep();
        for (const each of processes) expect([undefined, new Set(ids)]).toContainEqual(await each.living());
      }
      expect(await all()).toEqual(ids);
    }
    expect(await Promise.all(leases.map(isLost))).toEqual([false, false]);
  });
});

/** A dead process is swept as soon as a process is steady. */
async function untilSteady(): Promise<void> {
  const dead = await deadProcess();
  const swept = async () => {
    for (const each of opened) await each.sweep();
    return all();
  };
  await expect.poll(swept, { timeout: 5_000 }).not.toContain(dead);
}

describe('sweeping', () => {
  it('begins when this process has held its own lease for a whole period', async () => {
    const takenAt = Date.now();
    const sweeper = anotherProcess();
    const own = await sweeper.take();
    const dead = await deadProcess();
    const swept = async () => (await sweeper.sweep()) && all();
    expect(await swept()).toContain(dead);
    await expect.poll(swept, { timeout: 5_000 }).toEqual([own.id]);
    expect(Date.now() - takenAt).toBeGreaterThanOrEqual(timing.leaseMs);
  });

  it('is done at once by a process that is alone on its database', async () => {
    await deadProcess();
    const own = await anotherProcess().take({ aloneOnDatabase: true });
    expect(await all()).toEqual([own.id]);
  });

  it('names the devices that are no longer online, and no device of another process', async () => {
    const sweeper = anotherProcess();
    const own = await sweeper.take();
    const dead = await deadProcess();
    await database.query(
      {
        text: `INSERT INTO device (id, dialect, reachability, online, gateway_id)
               VALUES ('gone', 'XIAOZHI', 'ALWAYS', true, $1), ('away', 'XIAOZHI', 'ALWAYS', false, $1),
                 ('here', 'XIAOZHI', 'ALWAYS', true, $2)`,
      },
      [dead, own.id],
    );
    const swept: string[] = [];
    const sweep = async () => {
      swept.push(...(await sweeper.sweep()).gone);
      return all();
    };
    await expect.poll(sweep, { timeout: 5_000 }).toEqual([own.id]);
    expect(swept).toEqual(['gone']);
  });

  it('is nothing that a process without a lease does', async () => {
    const dead = await deadProcess();
    expect(await anotherProcess().sweep()).toEqual({ gone: [], events: [] });
    expect(await all()).toEqual([dead]);
  });
});

describe('the roles of successors', () => {
  it('are those of other living processes that do not stop', async () => {
    const asker = anotherProcess();
    expect(await asker.successorRoles()).toEqual(new Set());
    await asker.take({ roles: ['gateway', 'worker'] });
    await deadProcess();
    const both = await anotherProcess().take({ roles: ['gateway', 'api'] });
    await anotherProcess().take({ roles: ['api'] });
    expect(await asker.successorRoles()).toEqual(new Set(['gateway', 'api']));
    await both.markStopping();
    expect(await asker.successorRoles()).toEqual(new Set(['api']));
  });
});

it('names the oldest living process with a role that does not stop', async () => {
  await deadProcess();
  const [first, second, other] = [anotherProcess(), anotherProcess(), anotherProcess()];
  const lease = await first.take({ roles: ['worker'] });
  await second.take({ roles: ['gateway', 'worker'] });
  await other.take({ roles: ['gateway'] });
  const eldest = (role: string) => Promise.all([first, second, other].map((process) => process.isEldest(role)));
  expect(await eldest('worker')).toEqual([true, false, false]);
  expect(await eldest('gateway')).toEqual([false, true, false]);
  await lease.markStopping();
  expect(await eldest('worker')).toEqual([false, true, false]);
});

it('announces the own address of a gateway until the process stops or its lease ends', async () => {
  const place = { endpoint: 'east:8883', acceptsDevices: true };
  const lease = await anotherProcess().take();
  const twin = await anotherProcess().take();
  expect(await listGatewayPlaces(database)).toEqual([]);
  await lease.announcePlace({ ...place, acceptsDevices: false });
  expect(await listGatewayPlaces(database)).toEqual([{ ...place, acceptsDevices: false }]);
  await twin.announcePlace(place);
  expect(await listGatewayPlaces(database)).toEqual([place]);
  await twin.markStopping();
  expect(await listGatewayPlaces(database)).toEqual([{ ...place, acceptsDevices: false }]);
  isAway = true;
  await expect.poll(() => listGatewayPlaces(database), { timeout: 5_000 }).toEqual([]);
});

it('stores with each renewal which of its writers are behind or have lost rows', async () => {
  const idle = { name: 'event', depth: 3, lagMs: 200, droppedTotal: 0 };
  let writers = [idle, { name: 'call', depth: 900, lagMs: 31_000.4, droppedTotal: 7 }];
  const lease = await anotherProcess().take({}, () => writers);
  const stored = async () => (await listProcessWriters(database)).map(({ id, writers: noted }) => [id, noted]);
  expect(await stored()).toEqual([[lease.id, []]]);
  await expect.poll(stored).toEqual([[lease.id, [{ name: 'call', lagMs: 31_000, droppedTotal: 7 }]]]);
  writers = [idle];
  await expect.poll(stored).toEqual([[lease.id, []]]);
});

it('gives its own row back and leaves those of others', async () => {
  const dead = await deadProcess();
  const lease = await anotherProcess().take();
  await lease.release();
  expect(await all()).toEqual([dead]);
});

describe('a process that died with calls of idempotency keys under way', () => {
  const callId = '019aa6c0-0000-7000-8000-000000000001';
  const recordedId = '019aa6c0-0000-7000-8000-000000000002';

  /** As CallStore claims keys: one call is recorded, the other is not. */
  async function deadProcessWithCalls(): Promise<void> {
    const dead = await deadProcess();
    await database.query(
      {
        text: `INSERT INTO call_key (principal, actor, key, request_hash, call_id, device_id, tool, arguments,
                 started_at, process_id)
               SELECT 'KEY:1', 'spec', id::text, 'h', id, 'd-1', 'self.lamp.turn_on', '{"on": true}',
                 now() - interval '4 seconds', $3
               FROM unnest(ARRAY[$1, $2]::uuid[]) AS id`,
      },
      [callId, recordedId, dead],
    );
    await database.query(
      {
        text: `INSERT INTO call (id, device_id, tool, arguments, outcome, certainty, started_at, duration_ms, actor)
               VALUES ($1, 'd-1', 'self.lamp.turn_on', '{}', 'SUCCEEDED', 'YES', now(), 5, 'spec')`,
      },
      [recordedId],
    );
  }

  const records = () =>
    database.query(
      { text: 'SELECT id, outcome, certainty, error_code, arguments, duration_ms FROM call ORDER BY id' },
      [],
    );

  it('leaves a record that each of them may have run, and changes none that is there', async () => {
    await deadProcessWithCalls();
    const sweeper = anotherProcess();
    await sweeper.take();
    await expect.poll(async () => (await sweeper.sweep()) && (await records()).length, { timeout: 5_000 }).toBe(2);
    expect(await records()).toMatchObject([
      { id: callId, outcome: 'UNKNOWN', certainty: 'MAYBE', error_code: 'HUB_RESTARTED', arguments: { on: true } },
      { id: recordedId, outcome: 'SUCCEEDED', duration_ms: 5 },
    ]);
  });
});

describe('which processes live', () => {
  it('is known once this process has held its own lease for a while, without processes whose lease ended', async () => {
    const asker = anotherProcess();
    expect(await asker.living()).toBeUndefined();
    const own = await asker.take();
    await deadProcess();
    expect(await asker.living()).toBeUndefined();
    await expect.poll(() => asker.living(), { timeout: 5_000 }).toEqual(new Set([own.id]));
  });
});
