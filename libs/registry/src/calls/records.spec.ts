import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { CallId, DeviceId } from '@flotilla/mcp';
import pg from 'pg';
import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Registry } from '../index.js';
import { openRegistry } from '../index.js';
import { openTestDatabase } from '../test-database.js';
import type { TestDatabase } from '../test-database.js';
import type { CallRecord } from './call-store.js';

let database: TestDatabase;
let registry: Registry;
let dataDir: string;

beforeAll(async () => {
  database = await openTestDatabase();
  dataDir = await mkdtemp(path.join(tmpdir(), 'flotilla-records-'));
  registry = await openRegistry({ databaseUrl: database.databaseUrl, dataDir });
});

afterAll(async () => {
  await registry.close();
  await database.close();
  await rm(dataDir, { recursive: true });
});

const NOW = Date.now();

function call(change: Partial<CallRecord> = {}): CallRecord {
  return {
    id: v7({ msecs: change.startedAt ?? NOW }) as CallId,
    deviceId: 'device' as DeviceId,
    tool: 'self.lamp.turn_on',
    arguments: { level: 3 },
    outcome: {
      kind: 'SUCCEEDED',
      certainty: 'YES',
      result: { content: [{ type: 'text', text: 'true' }], isError: false },
    },
    startedAt: NOW,
    durationMs: 12.5,
    actor: 'admin',
    ...change,
  };
}

describe('calls', () => {
  it('are found as they were recorded', async () => {
    const record = call();
    await registry.calls.record(record);
    const { outcome, ...rest } = record;
    expect(await registry.calls.find(record.id)).toEqual({
      ...rest,
      outcome: 'SUCCEEDED',
      result: outcome.result,
      error: undefined,
      jobId: undefined,
    });
    expect(await registry.calls.find('no-uuid')).toBeUndefined();
  });

  it("keep the device's code of a failure", async () => {
    const error = { code: 'DEVICE_ERROR', message: 'boom', rpcCode: -32_603 } as const;
    const record = call({ outcome: { kind: 'FAILED', certainty: 'YES', error } });
    await registry.calls.record(record);
    expect(await registry.calls.find(record.id)).toMatchObject({ outcome: 'FAILED', error });
  });

  it('are recorded if texts have unstorable characters, and a refused record does not affect others', async () => {
    const odd = call({ arguments: { 'ke\0y': 'a\0b\ud800', 'back\\u0000slash': '\\u0000' } });
    const refused = call({ id: 'not-a-uuid' as CallId });
    const results = await Promise.allSettled(
      [...Array.from({ length: 9 }, () => call()), refused, odd].map((record) => registry.calls.record(record)),
    );
    expect(results.map(({ status }) => status)).toEqual([
      ...Array<string>(9).fill('fulfilled'),
      'rejected',
      'fulfilled',
    ]);
    expect((await registry.calls.find(odd.id))?.arguments).toEqual({
      'ke\ufffdy': 'a\ufffdb\ufffd',
      'back\\u0000slash': '\\u0000',
    });
  });

  it('keep each its own result or error when they are written together', async () => {
    const succeeded = call({ arguments: {} });
    const silent = call({ outcome: { kind: 'UNKNOWN', certainty: 'YES', error: { code: 'TIMEOUT', message: '' } } });
    const failed = call({
      outcome: { kind: 'FAILED', certainty: 'YES', error: { code: 'DEVICE_ERROR', message: 'null', rpcCode: 0 } },
    });
    await Promise.all([succeeded, silent, failed].map((record) => registry.calls.record(record)));
    for (const { id, outcome } of [succeeded, silent, failed]) {
      expect(await registry.calls.find(id)).toMatchObject({
        outcome: outcome.kind,
        result: outcome.result,
        error: outcome.error,
      });
    }
  });

  it('cut a result that is too long to keep, and stay valid', async () => {
    const record = call({
      outcome: {
        kind: 'SUCCEEDED',
        certainty: 'YES',
        result: { content: [{ type: 'text', text: 'x'.repeat(100_000) }], isError: false },
      },
    });
    await registry.calls.record(record);
    const text = (await registry.calls.find(record.id))?.result?.content[0]?.['text'];
    expect(text).toContain('x\n[The result had 100');
    expect(String(text).length).toBeLessThan(64 * 1024);
  });

  it('are listed latest first, by filter and page after page', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      const record = call({
        deviceId: 'lister' as DeviceId,
        startedAt: NOW + index,
        tool: index === 2 ? 'other' : 'same',
      });
      await registry.calls.record(record);
      ids.unshift(record.id);
    }
    const first = await registry.calls.page({ deviceId: 'lister' }, { first: 2 });
    expect(first).toMatchObject({ hasNextPage: true });
    const rest = await registry.calls.page({ deviceId: 'lister' }, { first: 10, after: first.cursors[1] ?? '' });
    expect([...first.rows, ...rest.rows].map((row) => row.id)).toEqual(ids);
    expect(
      (await registry.calls.page({ deviceId: 'lister', tool: 'other' }, { first: 9 })).rows.map((row) => row.id),
    ).toEqual([ids[2]]);
    expect((await registry.calls.page({ deviceId: 'lister', since: NOW + 3 }, { first: 9 })).rows).toHaveLength(2);
    expect((await registry.calls.page({ deviceId: 'lister', until: NOW + 3 }, { first: 9 })).rows).toHaveLength(3);
    expect((await registry.calls.page({ deviceId: 'lister', outcomes: ['FAILED'] }, { first: 9 })).rows).toEqual([]);
    expect((await registry.calls.page({ jobId: v7() }, { first: 9 })).rows).toEqual([]);
    expect((await registry.calls.page({ jobId: 'no-uuid' }, { first: 9 })).rows).toEqual([]);
  });

  it('are claimed by key once, repeated with what is known, and refused for another request', async () => {
    const record = call();
    const { id: callId, deviceId, tool, startedAt, actor } = record;
    const claim = {
      callId,
      deviceId,
      tool,
      startedAt,
      actor,
      principal: 'KEY:1',
      arguments: record.arguments,
      key: 'k1',
      requestHash: 'h1',
    };
    expect(await registry.calls.claimKey(claim)).toEqual({ kind: 'claimed' });
    expect(await registry.calls.claimKey({ ...claim, callId: v7() as CallId })).toMatchObject({
      kind: 'repeat',
      call: { id: callId, outcome: undefined },
    });
    await registry.calls.record(record);
    expect(await registry.calls.claimKey(claim)).toMatchObject({
      kind: 'repeat',
      call: { id: callId, outcome: 'SUCCEEDED' },
    });
    expect(await registry.calls.claimKey({ ...claim, requestHash: 'h2' })).toEqual({ kind: 'conflict' });
    expect(await registry.calls.claimKey({ ...claim, principal: 'KEY:2', callId: v7() as CallId })).toEqual({
      kind: 'claimed',
    });
  });

  it('leave their key free if PostgreSQL stores it only after the claim was given up', async () => {
    const { id: callId, deviceId, tool, arguments: args, startedAt, actor } = call();
    const used = { principal: 'KEY:late', key: 'late', requestHash: 'h' };
    const claim = { ...used, callId, deviceId, tool, arguments: args, startedAt, actor };
    const other = new pg.Client({ connectionString: database.databaseUrl });
    await other.connect();
    const waiting = async () =>
      (await other.query(`SELECT FROM pg_locks WHERE relation = 'call_key'::regclass AND NOT granted`)).rows.length;
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      await other.query('BEGIN; LOCK TABLE call_key IN EXCLUSIVE MODE');
      const late = expect(registry.calls.claimKey(claim)).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
      await expect.poll(waiting).toBe(1);
      vi.advanceTimersByTime(5_000);
      await late;
      await other.query('COMMIT');
      await expect.poll(waiting).toBe(0);
      const again = { ...claim, callId: v7() as CallId };
      await expect.poll(async () => (await registry.calls.claimKey(again)).kind).toBe('claimed');
    } finally {
      vi.useRealTimers();
      await other.end();
    }
  });
});

describe('events', () => {
  it('are read in the order in which they were appended, both ways, from the cursor of any of them', async () => {
    const events = Array.from({ length: 20 }, (_, index) =>
      registry.events.append({
        type: 'device.notification',
        deviceId: 'counter' as DeviceId,
        at: NOW,
        data: { index },
      }),
    );
    await expect
      .poll(async () => (await registry.events.page({ deviceId: 'counter' }, 'AT_ASC', { first: 100 })).rows.length)
      .toBe(20);
    const ascending = await registry.events.page({ types: ['device.notification'] }, 'AT_ASC', { first: 100 });
    expect(ascending.rows).toEqual(events);
    expect(ascending.cursors).toEqual(events.map((event) => registry.events.cursorOf(event)));
    const descending = await registry.events.page({ deviceId: 'counter' }, 'AT_DESC', {
      first: 3,
      after: ascending.cursors[10] ?? '',
    });
    expect(descending.rows.map((row) => row.data['index'])).toEqual([9, 8, 7]);
    expect((await registry.events.page({ deviceId: 'counter', since: NOW + 1 }, 'AT_ASC', { first: 1 })).rows).toEqual(
      [],
    );
  });

  it('are found by patterns of types, and without others', async () => {
    for (const type of ['enrolment.approved', 'enrolment.rejected', 'enrolment_link.created', 'board.blocked'] as const)
      registry.events.append({ type, deviceId: 'patterns' as DeviceId, at: NOW, data: {} });
    const found = async (filter: { types?: string[]; exceptTypes?: string[] }) =>
      (await registry.events.page({ deviceId: 'patterns', ...filter }, 'AT_ASC', { first: 10 })).rows.map(
        ({ type }) => type,
      );
    await expect.poll(() => found({})).toHaveLength(4);
    expect(await found({ types: ['enrolment.*'] })).toEqual(['enrolment.approved', 'enrolment.rejected']);
    expect(await found({ types: ['enrolment.*', 'board.blocked'], exceptTypes: ['enrolment.rejected'] })).toEqual([
      'enrolment.approved',
      'board.blocked',
    ]);
    expect(await found({ exceptTypes: ['enrolment.*', 'board.*'] })).toEqual(['enrolment_link.created']);
    expect(await found({ types: ['*'] })).toHaveLength(4);
    expect(await found({ types: [] })).toEqual([]);
    expect(await found({ exceptTypes: [] })).toHaveLength(4);
  });

  it("past the memory's bound go through the spill file, and none is lost", async () => {
    const count = 30_000;
    for (let index = 0; index < count; index += 1)
      registry.events.append({ type: 'device.samples', deviceId: undefined, at: NOW, data: { index } });
    registry.events.append({ type: 'device.samples', deviceId: undefined, at: NOW, data: { index: count } });
    const written = async () => {
      registry.events.append({ type: 'device.will', deviceId: undefined, at: NOW, data: {} });
      let rows = 0;
      let after: string | undefined;
      do {
        const page = await registry.events.page({ types: ['device.samples'] }, 'AT_ASC', {
          first: 10_000,
          ...(after === undefined ? {} : { after }),
        });
        rows += page.rows.length;
        after = page.hasNextPage ? page.cursors.at(-1) : undefined;
      } while (after !== undefined);
      return rows;
    };
    await expect.poll(written, { timeout: 15_000, interval: 200 }).toBe(count + 1);
    expect(registry.writers().find(({ name }) => name === 'event')?.droppedTotal).toBe(0);
  });
});
