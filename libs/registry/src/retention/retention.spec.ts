import type { CallId, DeviceId, JobId, ToolSetHash } from '@flotilla/mcp';
import type pg from 'pg';
import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Registry } from '../index.js';
import { openRegistry } from '../open-registry.js';
import { openRegistryFixture, type RegistryFixture } from '../registry-fixture.suite.js';
import { createJob, newJob } from '../jobs/new-job.suite.js';

const DAY_MS = 86_400_000;
const NOW = Date.now();
const kept = {
  recordsMs: 30 * DAY_MS,
  jobsMs: 90 * DAY_MS,
  auditMs: 365 * DAY_MS,
  measurementsMs: 7 * DAY_MS,
  rollupsMs: 400 * DAY_MS,
};

let fixture: RegistryFixture;
let registry: Registry;
let raw: pg.Client;

beforeAll(async () => {
  fixture = await openRegistryFixture();
  ({ registry, raw } = fixture);
});
afterAll(() => fixture.close());

const daysAgo = (days: number) => NOW - days * DAY_MS;
const rowsOf = async (sql: string, values: readonly unknown[] = []) =>
  (await raw.query<Record<string, unknown>>(sql, [...values])).rows;
const partitions = async (table: string) =>
  (
    await rowsOf(`SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = $1::regclass ORDER BY 1`, [
      table,
    ])
  ).map(({ name }) => name);

describe('retention', () => {
  it('drops whole days of events and calls, and removes what came outside of the partitions', async () => {
    // As a hub made them that ran for 40 days.
    for (let days = 40; days > 8; days -= 8) await registry.makePartitions(daysAgo(days));
    for (const days of [400, 40, 35, 31.5, 28, 1]) {
      registry.events.append({ type: 'tools.changed', deviceId: undefined, at: daysAgo(days), data: { days } });
      await registry.calls.record({
        id: v7({ msecs: daysAgo(days) }) as CallId,
        deviceId: 'd' as DeviceId,
        tool: 't',
        arguments: {},
        durationMs: 1,
        actor: 'a',
        startedAt: daysAgo(days),
        outcome: { kind: 'UNKNOWN', certainty: 'YES' },
      });
    }
    await expect.poll(async () => (await rowsOf('SELECT FROM event')).length).toBe(6);
    const before = (await partitions('event')).length;
    const removed = await registry.removeOld(kept, NOW);
    expect(removed['events']).toBeGreaterThan(5);
    expect((await partitions('event')).length).toBeLessThan(before);
    expect(await rowsOf(`SELECT data->'days' AS days FROM event ORDER BY id`)).toEqual([{ days: 28 }, { days: 1 }]);
    expect(await rowsOf('SELECT FROM call')).toHaveLength(2);
    expect((await partitions('call')).includes('call_default')).toBe(true);
    expect(await registry.removeOld(kept, NOW)).toEqual({});
  });

  it('removes only old finished jobs with their rows, a month of targets at a time', async () => {
    for (const days of [190, 100]) await registry.makePartitions(daysAgo(days));
    const make = async (days: number, state: 'FINISHED' | 'RUNNING', parentJobId?: JobId) => {
      const at = daysAgo(days);
      const job = newJob({ id: v7({ msecs: at }) as JobId, createdAt: at, parentJobId });
      await createJob(registry.jobCommands, job);
      await raw.query(
        `UPDATE job SET state = $2::job_state, finished_at = CASE WHEN $2 = 'FINISHED' THEN $3::timestamptz END
         WHERE id = $1`,
        [job.id, state, new Date(at)],
      );
      await raw.query(
        `INSERT INTO job_target (job_id, device_id, ordinal, state)
         VALUES ($1, 'd1', 1, 'DECIDED'), ($1, 'd2', 2, 'DECIDED')`,
        [job.id],
      );
      await raw.query(`INSERT INTO job_result (job_id, hash, result) VALUES ($1, 'h', '{}')`, [job.id]);
      await raw.query(`INSERT INTO job_counter (job_id, shard) VALUES ($1, 99)`, [job.id]);
      return job.id;
    };
    const month = await make(190, 'FINISHED');
    const alone = await make(100, 'FINISHED');
    const running = await make(100, 'RUNNING');
    const needed = await make(100, 'FINISHED');
    const child = await make(2, 'RUNNING', needed);
    const young = await make(80, 'FINISHED');
    const monthOf = (days: number) =>
      `job_target_${new Date(daysAgo(days)).toISOString().replace('-', '').slice(0, 6)}`;
    expect(await partitions('job_target')).toContain(monthOf(190));
    expect(await registry.removeOld(kept, NOW)).toMatchObject({ jobs: 2 });
    expect(await partitions('job_target')).not.toContain(monthOf(190));
    expect(await partitions('job_target')).toContain(monthOf(100));
    for (const table of ['job', 'job_target', 'job_result', 'job_counter']) {
      const left = new Set(
        (await rowsOf(`SELECT ${table === 'job' ? 'id' : 'job_id'} AS id FROM ${table}`)).map(({ id }) => id),
      );
      expect(left, table).toEqual(new Set([running, needed, child, young]));
      expect([left.has(month), left.has(alone)]).toEqual([false, false]);
    }
  });

  it('frees idempotency keys after a week', async () => {
    const job = (days: number, key: string) =>
      newJob({ id: v7() as JobId, createdAt: daysAgo(days), idempotencyKey: key, createdById: 'KEY:keys' });
    const first = await createJob(registry.jobCommands, job(8, 'old'));
    await createJob(registry.jobCommands, job(6, 'young'));
    const claim = {
      principal: 'KEY:keys',
      actor: 'a',
      deviceId: 'd' as DeviceId,
      tool: 't',
      arguments: {},
      requestHash: 'h',
    };
    await registry.calls.claimKey({ ...claim, key: 'old', callId: v7() as CallId, startedAt: daysAgo(8) });
    await registry.calls.claimKey({ ...claim, key: 'young', callId: v7() as CallId, startedAt: daysAgo(6) });
    expect(await registry.removeOld(kept, NOW)).toMatchObject({ idempotencyKeys: expect.any(Number) });
    expect(await registry.calls.claimKey({ ...claim, key: 'old', callId: v7() as CallId, startedAt: NOW })).toEqual({
      kind: 'claimed',
    });
    expect(
      (await registry.calls.claimKey({ ...claim, key: 'young', callId: v7() as CallId, startedAt: NOW })).kind,
    ).toBe('repeat');
    expect((await createJob(registry.jobCommands, job(0, 'old'))).kind).toBe('created');
    expect((await createJob(registry.jobCommands, job(0, 'young'))).kind).toBe('repeat');
    expect(first.kind === 'created' && (await registry.jobs.find(first.job.id))?.id).toBeTruthy();
  });

  it('removes old webhook deliveries, and pending events of removed webhooks', async () => {
    const webhook = await registry.webhooks.create(
      { url: 'https://x.example/', types: ['*'], enabled: true, secret: 's' },
      { webhooksMax: 9, at: NOW },
    );
    registry.events.append({ type: 'tools.changed', deviceId: undefined, at: NOW, data: {} });
    await expect.poll(async () => (await rowsOf('SELECT FROM webhook_outbox')).length).toBe(1);
    const breaker = { failures: 9, pauseMs: 1, pauseMsMax: 1 };
    const [pending] = await registry.webhooks.claim({ limit: 9, perWebhook: 9, claimMs: 1_000, breaker });
    if (pending === undefined || webhook === undefined) throw new TypeError('No event is pending.');
    const attempt = { pending, status: 500, error: 'no', result: { kind: 'retry', afterMs: 0 } } as const;
    for (const at of [daysAgo(31), daysAgo(29)]) await registry.webhooks.settle({ ...attempt, at }, breaker);
    await registry.removeOld(kept, NOW);
    expect(await registry.webhooks.deliveriesOf([webhook.id], 9)).toMatchObject([[{ at: daysAgo(29) }]]);
    await registry.webhooks.remove(webhook.id, { at: NOW });
    await registry.removeOld(kept, NOW);
    expect(await rowsOf('SELECT FROM webhook_outbox')).toEqual([]);
    expect(await rowsOf('SELECT FROM webhook_delivery')).toEqual([]);
  });

  it('removes sessions that ended long ago, except the latest of each device', async () => {
    const open = async (deviceId: string, epoch: number, endedDaysAgo: number | null) =>
      raw.query(
        `INSERT INTO session (device_id, epoch, transport, connected_at, disconnected_at)
         VALUES ($1, $2, 'MQTT', $3, $4)`,
        [deviceId, epoch, new Date(daysAgo(900)), endedDaysAgo === null ? null : new Date(daysAgo(endedDaysAgo))],
      );
    await raw.query(`INSERT INTO device (id, dialect, reachability, epoch) VALUES ('lamp', 'XIAOZHI', 'ALWAYS', 4),
      ('gone', 'XIAOZHI', 'ALWAYS', 2), ('open', 'XIAOZHI', 'ALWAYS', 1)`);
    for (const [epoch, days] of [500, 401, 399, 1].entries()) await open('lamp', epoch + 1, days);
    for (const [epoch, days] of [800, 700].entries()) await open('gone', epoch + 1, days);
    await open('open', 1, null);
    // Of a device that was removed.
    await open('removed', 1, 500);
    expect(await registry.removeOld(kept, NOW)).toMatchObject({ sessions: 4 });
    // Jobs are verified with sessions of some days, also if roll-ups are kept for a shorter time.
    expect(await registry.removeOld({ ...kept, recordsMs: DAY_MS, rollupsMs: DAY_MS }, daysAgo(370))).toEqual({});
    expect(await rowsOf('SELECT device_id, epoch FROM session ORDER BY 1, 2')).toEqual([
      { device_id: 'gone', epoch: 2 },
      { device_id: 'lamp', epoch: 3 },
      { device_id: 'lamp', epoch: 4 },
      { device_id: 'open', epoch: 1 },
    ]);
  });

  it('removes sessions past many that stay, as after a crash that ended all of them at once', async () => {
    const count = 12_000;
    await raw.query(
      `INSERT INTO device (id, dialect, reachability, epoch)
       SELECT 'many' || n, 'XIAOZHI', 'ALWAYS', 2 FROM generate_series(1, $1) n`,
      [count],
    );
    await raw.query(
      `INSERT INTO session (device_id, epoch, transport, connected_at, disconnected_at)
       SELECT 'many' || n, e, 'MQTT', $2, $2 FROM generate_series(1, $1) n, generate_series(1, 2) e`,
      [count, new Date(daysAgo(500))],
    );
    expect(await registry.removeOld(kept, NOW)).toMatchObject({ sessions: count });
    expect(await registry.removeOld(kept, NOW)).not.toHaveProperty('sessions');
    expect(await rowsOf(`SELECT DISTINCT epoch FROM session WHERE device_id LIKE 'many%'`)).toEqual([{ epoch: 2 }]);
  });

  it('removes tool sets that no device has had of late, and what one device listed too often', async () => {
    const used = async (deviceId: string, hash: string, days: number) =>
      raw.query(`INSERT INTO tool_set_use VALUES ($1, $2, '', $3, $3)`, [deviceId, hash, new Date(daysAgo(days))]);
    const stored = async (hash: string, days: number) =>
      raw.query(`INSERT INTO tool_set (hash, stored_at) VALUES ($1, $2)`, [hash, new Date(daysAgo(days))]);
    await raw.query(`INSERT INTO device (id, dialect, reachability, tool_set_hash)
      VALUES ('steady', 'XIAOZHI', 'ALWAYS', 'now'), ('faulty', 'XIAOZHI', 'ALWAYS', 'faulty-0')`);
    for (const hash of ['now', 'former', 'old', 'unused']) await stored(hash, 500);
    await stored('new', 1);
    for (const [hash, days] of [
      ['now', 500],
      ['former', 399],
      ['old', 401],
    ] as const)
      await used('steady', hash, days);
    for (let number = 0; number < 105; number += 1) {
      await stored(`faulty-${number}`, 3);
      await used('faulty', `faulty-${number}`, 300 - number);
    }
    expect(await registry.removeOld(kept, NOW)).toMatchObject({ toolSets: 6 });
    const hashes = (await rowsOf(`SELECT hash FROM tool_set WHERE hash NOT LIKE 'faulty%' ORDER BY 1`)).map(
      ({ hash }) => hash,
    );
    expect(hashes).toEqual(['former', 'new', 'now']);
    const left = (await rowsOf(`SELECT tool_set_hash AS hash FROM tool_set_use WHERE device_id = 'faulty'`)).map(
      ({ hash }) => hash,
    );
    expect(left).toHaveLength(101);
    expect(left).toContain('faulty-0');
    expect(left).not.toContain('faulty-4');
    expect(left).toContain('faulty-5');
  });

  it('leaves the newest tool set with a user-only tool, so that arguments of former calls stay hidden', async () => {
    for (const [hash, days] of [
      ['secret-a', 600],
      ['secret-b', 700],
    ] as const) {
      await raw.query(`INSERT INTO tool_set (hash, created_at, stored_at) VALUES ($1, $2, $2)`, [
        hash,
        new Date(daysAgo(days)),
      ]);
      for (const [position, name] of ['secret', 'open'].entries())
        await raw.query(`INSERT INTO tool VALUES ($1, $2, $3, '', '{}', '', $2 = 0, true)`, [hash, position, name]);
    }
    expect(await registry.removeOld(kept, NOW)).toMatchObject({ toolSets: 1 });
    expect(await rowsOf(`SELECT hash FROM tool_set WHERE hash LIKE 'secret%'`)).toEqual([{ hash: 'secret-a' }]);
    expect(await registry.toolSets.userOnlyAmong(['secret', 'open'])).toEqual(new Set(['secret']));
  });

  it('leaves a tool set that a device lists again, also if this process has read it before', async () => {
    const tool = { name: 'a', description: '', inputSchema: {}, userOnly: false, schemaKnown: true };
    const toolSet = { hash: 'again' as ToolSetHash, tools: [tool], pins: [] };
    await registry.toolSets.ensure(toolSet);
    await raw.query(`UPDATE tool_set SET stored_at = $1 WHERE hash = 'again'`, [new Date(daysAgo(3))]);
    const other = await openRegistry({ databaseUrl: fixture.databaseUrl });
    await other.toolSets.get(toolSet.hash);
    // It is listed once before the removal, and once after it.
    const third = await openRegistry({ databaseUrl: fixture.databaseUrl });
    await third.toolSets.ensure(toolSet);
    expect(await registry.removeOld(kept, NOW)).not.toHaveProperty('toolSets');
    await raw.query(`UPDATE tool_set SET stored_at = $1 WHERE hash = 'again'`, [new Date(daysAgo(3))]);
    expect(await registry.removeOld(kept, NOW)).toMatchObject({ toolSets: 1 });
    await other.toolSets.ensure(toolSet);
    expect(await rowsOf(`SELECT name FROM tool WHERE tool_set_hash = 'again'`)).toEqual([{ name: 'a' }]);
    await Promise.all([other.close(), third.close()]);
  });

  it('frees paths without points and roll-ups, also for a process that has their number cached', async () => {
    const { measurements } = registry;
    const other = await openRegistry({ databaseUrl: fixture.databaseUrl });
    const add = async (store: Registry, path: string, at: number, value: number) => {
      store.measurements.add({ deviceId: 'd1', path, at, value, ruleId: 'rule' });
      const latest = async () => (await measurements.latestOf(['d1'])).get('d1');
      await expect.poll(latest).toContainEqual({ path, at, value });
    };
    await add(registry, 'samples:old', daysAgo(500), 1);
    await add(registry, 'samples:kept', daysAgo(500), 2);
    await add(registry, 'samples:young', NOW, 3);
    await raw.query(`INSERT INTO measurement_day (at, device_id, path_id, count, min, mean, max)
      SELECT now() - interval '399 days', s.device_id, p.id, 1, 2, 2, 2
      FROM measurement_series s JOIN measurement_path p ON p.id = s.path_id WHERE p.path = 'samples:kept'`);
    const paths = async () => (await rowsOf('SELECT path FROM measurement_path ORDER BY path')).map(({ path }) => path);
    // A path that was made just now, whose first point is on its way.
    await raw.query(`INSERT INTO measurement_path (path) VALUES ('samples:new')`);
    expect(await registry.removeOld(kept, NOW)).toMatchObject({ series: 3 });
    expect(await paths()).toEqual(['samples:kept', 'samples:young']);

    // One process makes the path again, and the other one still has its former number.
    await add(other, 'samples:old', NOW + 1, 4);
    await add(registry, 'samples:old', NOW + 2, 5);
    expect(await paths()).toEqual(['samples:kept', 'samples:old', 'samples:young']);
    const plan = { level: 'RAW' as const, stepMs: 1, from: NOW };
    const request = { deviceId: 'd1', paths: ['samples:old'], since: NOW, until: NOW + 9, plan };
    for (const { measurements: store } of [registry, other])
      expect((await store.series(request))[0]?.points.map(({ mean }) => mean)).toEqual([4, 5]);
    expect(await rowsOf('SELECT FROM measurement m WHERE m.path_id NOT IN (SELECT id FROM measurement_path)')).toEqual(
      [],
    );
    await other.close();
  });
});
