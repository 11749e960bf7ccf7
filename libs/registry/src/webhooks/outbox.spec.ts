import type { DeviceId } from '@flotilla/mcp';
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Registry } from '../index.js';
import { openRegistry } from '../index.js';
import { openTestDatabase } from '../test-database.js';
import type { TestDatabase } from '../test-database.js';

const PER_WEBHOOK = 4;
const CLAIM = {
  limit: 10,
  perWebhook: PER_WEBHOOK,
  claimMs: 60_000,
  breaker: { failures: 3, pauseMs: 1_000, pauseMsMax: 1_000 },
};

let database: TestDatabase;
let processes: readonly Registry[];

beforeEach(async () => {
  database = await openTestDatabase();
  const open = () => openRegistry({ databaseUrl: database.databaseUrl });
  processes = [await open(), await open(), await open()];
  const [{ events, webhooks }] = processes as readonly [Registry];
  const at = Date.now();
  const hook = { url: 'https://receiver.example/hook', types: ['*'], enabled: true, secret: 's' };
  await webhooks.create(hook, { webhooksMax: 1, at });
  for (let index = 0; index < 60; index += 1)
    events.append({ type: 'device.connected', deviceId: `board-${index}` as DeviceId, at, data: {} });
  await expect.poll(async () => (await webhooks.backlog()).pending).toBe(60);
});
afterEach(async () => {
  for (const registry of processes) await registry.close();
  await database.close();
});

it('gives all processes together no more of one webhook than it may have in flight', async () => {
  const [{ webhooks }] = processes as readonly [Registry];
  for (let round = 0; round < 10; round += 1) {
    const claimed = await Promise.all(processes.map((registry) => registry.webhooks.claim(CLAIM)));
    expect(claimed.flat()).toHaveLength(PER_WEBHOOK);
    for (const pending of claimed.flat()) await webhooks.release(pending);
  }
});

it('gives a process that had to wait for another one the whole time of its claim', async () => {
  const [{ webhooks }] = processes as readonly [Registry];
  const other = new pg.Client({ connectionString: database.databaseUrl });
  await other.connect();
  try {
    const ask = async (text: string) => (await other.query<Record<string, unknown>>({ text })).rows[0];
    await ask(`SELECT pg_advisory_lock(hashtext('flotilla.webhook-claims'))`);
    const claimed = webhooks.claim(CLAIM);
    const waiting = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
                     AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
    await expect.poll(async () => ask(waiting)).toBeDefined();
    await ask('CREATE TEMP TABLE freed AS SELECT clock_timestamp() AS at');
    await ask(`SELECT pg_advisory_unlock(hashtext('flotilla.webhook-claims'))`);
    expect(await claimed).toHaveLength(PER_WEBHOOK);
    const whole = `SELECT bool_and(claimed_until >= at + interval '60 s') AS whole
                   FROM webhook_outbox, freed WHERE claimed_until IS NOT NULL`;
    expect(await ask(whole)).toEqual({ whole: true });
  } finally {
    await other.end();
  }
});

it('does not count a late failure of an event that another process claimed or delivered meanwhile', async () => {
  const [{ webhooks }, other] = processes as readonly [Registry, Registry];
  const [late] = await webhooks.claim({ ...CLAIM, claimMs: 0 });
  const next = (await other.webhooks.claim(CLAIM)).find(({ eventId }) => eventId === late?.eventId);
  if (late === undefined || next === undefined) throw new TypeError('The claim did not lapse.');
  const retry = { kind: 'retry', afterMs: 1 } as const;
  const failed = { pending: late, at: Date.now(), status: undefined, error: 'late', result: retry } as const;
  const delivered = { ...failed, pending: next, status: 200, error: undefined, result: { kind: 'delivered' } } as const;
  expect(await webhooks.settle(failed, CLAIM.breaker)).toBeUndefined();
  await other.webhooks.settle(delivered, CLAIM.breaker);
  expect(await webhooks.settle(failed, CLAIM.breaker)).toBeUndefined();
  const givenUp = { ...failed, result: { kind: 'given-up' } } as const;
  expect(await webhooks.settle(givenUp, CLAIM.breaker)).toBeUndefined();
  expect(await webhooks.all()).toMatchObject([{ failingSince: undefined }]);
});

it.each([
  ['given up', { kind: 'given-up' }],
  ['to be repeated in an hour', { kind: 'retry', afterMs: 3_600_000 }],
] as const)('keeps an event due that a person redelivers while an attempt is %s', async (_, result) => {
  const [{ webhooks }] = processes as readonly [Registry];
  const breaker = { ...CLAIM.breaker, failures: 9 };
  const claim = async (eventId?: string) =>
    (await webhooks.claim({ ...CLAIM, perWebhook: 60, limit: 60, breaker })).find(
      (pending) => eventId === undefined || pending.eventId === eventId,
    );
  const first = await claim();
  if (first === undefined) throw new TypeError('No event is due.');
  const failed = { pending: first, at: Date.now(), status: 500, error: 'failed', result } as const;
  await webhooks.settle({ ...failed, result: { kind: 'retry', afterMs: 0 } }, breaker);
  const [[attempt] = []] = await webhooks.deliveriesOf([first.webhookId], 1);
  const inFlight = await claim(first.eventId);
  if (inFlight === undefined) throw new TypeError('The event is not due again.');
  await webhooks.redeliver(attempt?.id ?? '', { at: Date.now() });
  expect(await webhooks.settle({ ...failed, pending: inFlight }, breaker)).toBeUndefined();
  expect(await claim(first.eventId)).toMatchObject({ eventId: first.eventId, attempt: 4 });
});

it('is not held by a pause from before the clock of PostgreSQL was set back', async () => {
  const [{ webhooks }] = processes as readonly [Registry];
  const other = new pg.Client({ connectionString: database.databaseUrl });
  await other.connect();
  try {
    const pause = (ms: number) => other.query(`UPDATE webhook SET retry_at = now() + $1 * interval '1 ms'`, [ms]);
    await pause(900);
    expect(await webhooks.claim(CLAIM)).toEqual([]);
    await pause(3_600_000);
    expect(await webhooks.claim(CLAIM)).toHaveLength(PER_WEBHOOK);
  } finally {
    await other.end();
  }
});
