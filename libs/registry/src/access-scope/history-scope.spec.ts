import type { CallId, DeviceId, JobId } from '@flotilla/mcp';
import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRegistry } from '../index.js';
import type { DeviceFilter, Registry } from '../index.js';
import { createJob, newJob } from '../jobs/new-job.suite.js';
import { openTestDatabase } from '../test-database.js';
import type { TestDatabase } from '../test-database.js';
import { execute } from '../test-server.js';

const FIRST = { first: 50 };

describe('the history that a narrowed viewer sees', () => {
  let database: TestDatabase;
  let registry: Registry;
  let count = 0;

  beforeAll(async () => {
    database = await openTestDatabase();
    registry = await openRegistry({ databaseUrl: database.databaseUrl });
    await registry.makePartitions(Date.now());
  });
  afterAll(async () => {
    await registry.close();
    await database.close();
  });

  /** The next millisecond: records of one are before it or after it. */
  const tick = async () => {
    const now = Date.now();
    await expect.poll(() => Date.now(), { interval: 1 }).toBeGreaterThan(now + 1);
  };
  const register = async (tags: readonly string[] = []): Promise<DeviceId> => {
    const deviceId = `board-${String(++count)}` as DeviceId;
    await registerAs(deviceId, tags);
    return deviceId;
  };
  const registerAs = (deviceId: DeviceId, tags: readonly string[]) =>
    registry.enrolments.register([{ deviceId, name: undefined, tags, dialect: 'XIAOZHI', transport: 'MQTT' }], {
      actor: 'admin',
    });
  const connect = async (deviceId: DeviceId, firmwareVersion = '1.0.0') => {
    const connectedAt = Date.now();
    const plain = { dialect: 'XIAOZHI', transport: 'MQTT', reachability: 'ALWAYS', remoteAddress: undefined } as const;
    const { epoch } = await registry.devices.connect({ deviceId, ...plain, connectedAt });
    const lease = await registry.takeLease();
    const known = { model: 'board', firmwareVersion, toolSetHash: undefined, toolsComplete: true };
    await registry.devices.ready({ deviceId, epoch, gatewayId: lease.id, ...known, at: Date.now() });
  };
  const tag = (deviceId: DeviceId, add: readonly string[], remove: readonly string[] = []) =>
    registry.devices.tag({ ids: [deviceId] }, { add, remove, tagsMax: 9 });

  /** One record of each kind; resolves to how to find them again. */
  const live = async (deviceId: DeviceId) => {
    await tick();
    const at = Date.now();
    const callId = v7({ msecs: at }) as CallId;
    await registry.calls.record({
      id: callId,
      deviceId,
      tool: 'self.get',
      arguments: {},
      outcome: { kind: 'SUCCEEDED', certainty: 'YES' },
      startedAt: at,
      durationMs: 1,
      actor: 'admin',
    });
    const event = registry.events.append({ type: 'device.notification', deviceId, at, data: {} });
    const about = {
      kind: 'PHOTO',
      contentType: 'image/jpeg',
      sizeBytes: 3,
      sha256: 'aa',
      question: undefined,
    } as const;
    const upload = await registry.uploads.add({
      id: v7({ msecs: at }),
      deviceId,
      ...about,
      storageKey: `uploads/${callId}`,
    });
    const alert = v7({ msecs: at });
    await execute(
      database.databaseUrl,
      `INSERT INTO alert (id, rule_id, severity, device_id, is_group, device_count, facts, fired_at)
         VALUES ('${alert}', '${alert}', 'WARNING', '${deviceId}', false, 1, '{}', to_timestamp(${at / 1_000}));
       INSERT INTO alert_device (alert_id, device_id, began_at) VALUES ('${alert}', '${deviceId}', now())`,
    );
    const job = newJob({ id: v7({ msecs: at }) as JobId, devices: { ids: [deviceId] }, createdById: 'KEY:other' });
    await createJob(registry.jobCommands, job);
    const lease = await registry.takeLease();
    const fence = await registry.targetQueue.takeOwnership(job.id, lease.id);
    if (fence !== undefined) await registry.targetPreparation.prepareChunk(fence, [], 10, at);
    if (fence !== undefined) await registry.targetPreparation.freeze(fence, []);
    await expect
      .poll(async () => (await registry.events.page({ deviceId }, 'AT_DESC', FIRST)).rows.map(({ id }) => id))
      .toContain(event.id);
    await tick();
    return { call: callId as string, event: event.id, upload: upload?.id ?? '', alert, job: job.id as string };
  };
  type Record = Awaited<ReturnType<typeof live>>;

  /** Which of the records are seen, by every way to them. */
  const seenOf = async (
    devices: DeviceFilter,
    deviceId: DeviceId,
    records: readonly Record[],
  ): Promise<readonly number[]> => {
    // Another viewer, because counts of progress are cached.
    const view = registry.viewFor({ id: `KEY:narrow-${String(++count)}`, devices });
    const [calls, ownCalls] = [await view.calls.page({}, FIRST), (await view.calls.pagesOf([deviceId], FIRST))[0]];
    const [events, ownEvents] = [
      await view.events.page({}, 'AT_DESC', FIRST),
      (await view.events.pagesOf([deviceId], FIRST))[0],
    ];
    const [uploads, jobs] = [await view.uploads.page({}, FIRST), await view.jobs.page({}, FIRST)];
    const alerts = await registry.alerts.page({ within: devices }, FIRST);
    const seen: number[] = [];
    for (const [index, { alert, call, event, upload, job }] of records.entries()) {
      const [targets] = await view.jobs.targets([job as JobId], {}, FIRST);
      const progress = (await view.jobs.progress([job as JobId])).get(job as JobId);
      const ways = [
        calls.rows.some(({ id }) => id === call),
        ownCalls?.rows.some(({ id }) => id === call) === true,
        (await view.calls.find(call)) !== undefined,
        events.rows.some(({ id }) => id === event),
        ownEvents?.rows.some(({ id }) => id === event) === true,
        uploads.rows.some(({ id }) => id === upload),
        (await view.uploads.find(upload)) !== undefined,
        alerts.rows.some(({ id }) => id === alert),
        (await registry.alerts.find(alert, devices)) !== undefined,
        jobs.rows.some(({ id }) => id === job),
        (await view.jobs.find(job)) !== undefined,
        (targets?.rows.length ?? 0) > 0,
        (progress?.total ?? 0) > 0,
      ];
      expect(new Set(ways).size, `record ${String(index)}: ${ways.join(' ')}`).toBe(1);
      if (ways[0] === true) seen.push(index);
    }
    return seen;
  };

  it('begins when a device gets the tag, and other tags and names do not end it', async () => {
    const device = await register();
    const before = await live(device);
    await tag(device, ['lab']);
    const after = await live(device);
    expect(await seenOf({ tags: ['lab'] }, device, [before, after])).toEqual([1]);
    await tag(device, ['checked']);
    await registry.devices.update(device, { name: 'Lamp' });
    await connect(device, '2.0.0');
    expect(await seenOf({ tags: ['lab'] }, device, [before, after])).toEqual([1]);
    expect(await seenOf({ ids: [device] }, device, [before, after])).toEqual([0, 1]);
    await tag(device, [], ['lab']);
    await tag(device, ['lab']);
    expect(await seenOf({ tags: ['lab'] }, device, [before, after])).toEqual([]);
  });

  it('begins again with a device that was registered or enrolled again, with any filter', async () => {
    const device = await register(['home']);
    const first = await live(device);
    expect(await seenOf({ tags: ['home'] }, device, [first])).toEqual([0]);
    await registry.enrolments.remove(device, { actor: 'admin' });
    await registerAs(device, ['home']);
    const second = await live(device);
    for (const filter of [{ ids: [device] }, { tags: ['home'] }, { all: true }])
      expect(await seenOf(filter, device, [first, second]), JSON.stringify(filter)).toEqual([1]);
  });

  it('begins again with a board that lost its Client-Id, and not with the first one', async () => {
    const device = await register();
    const bind = (hash: string) =>
      execute(database.databaseUrl, `UPDATE device SET client_uuid_hash = ${hash} WHERE id = '${device}'`);
    const before = await live(device);
    await bind(`'one'`);
    const first = await live(device);
    expect(await seenOf({ ids: [device] }, device, [before, first])).toEqual([0, 1]);
    await bind('NULL');
    await bind(`'other'`);
    const second = await live(device);
    expect(await seenOf({ ids: [device] }, device, [before, first, second])).toEqual([2]);
  });

  it('begins with the name that is searched, the lack of a tag, the firmware or the model', async () => {
    const device = await register(['away']);
    await connect(device);
    const first = await live(device);
    await registry.devices.update(device, { name: 'Porch' });
    const second = await live(device);
    expect(await seenOf({ search: 'porch' }, device, [first, second])).toEqual([1]);
    await tag(device, [], ['away']);
    const third = await live(device);
    const unlike = { ids: [device], not: { tags: ['away'] } };
    expect(await seenOf(unlike, device, [first, second, third])).toEqual([2]);
    await connect(device, '3.0.0');
    const fourth = await live(device);
    const all = [first, second, third, fourth];
    expect(await seenOf({ ids: [device], firmwareVersion: '3.0.0' }, device, all)).toEqual([3]);
    expect(await seenOf({ ids: [device], model: 'board' }, device, all)).toEqual([0, 1, 2, 3]);
  });

  it('begins with the filter of a group', async () => {
    const device = await register(['site']);
    const row = { name: 'narrowing', filter: { tags: ['elsewhere'] }, timeZone: undefined, voiceUrls: [] };
    const answer = await registry.deviceGroups.create(row, { groupsMax: 9, at: Date.now() });
    if (answer.kind !== 'saved') throw new TypeError(answer.kind);
    const before = await live(device);
    await registry.deviceGroups.update({ ...answer.group, filter: { tags: ['site'] } }, { at: Date.now() });
    const after = await live(device);
    expect(await seenOf({ groupId: answer.group.id }, device, [before, after])).toEqual([1]);
  });

  it('is empty if changes of membership are not recorded', async () => {
    const device = await register(['seldom']);
    const record = await live(device);
    const filter: DeviceFilter = { tags: ['seldom'], presence: 'OFFLINE' };
    expect(await seenOf(filter, device, [record])).toEqual([]);
    const view = registry.viewFor({ id: 'KEY:narrow', devices: filter });
    expect((await view.devices.find(device))?.id).toBe(device);
    expect((await view.fleetFigures.callCounts(undefined, 0)).outcomes).toEqual([]);
  });

  it('has all targets of the jobs that the viewer made itself', async () => {
    const device = await register(['mine']);
    const { job } = await live(device);
    await tag(device, [], ['mine']);
    await tag(device, ['mine']);
    const view = registry.viewFor({ id: 'KEY:other', devices: { tags: ['mine'] } });
    expect((await view.jobs.targets([job as JobId], {}, FIRST))[0]?.rows).toMatchObject([{ deviceId: device }]);
    const others = registry.viewFor({ id: 'KEY:narrow', devices: { tags: ['mine'] } });
    expect(await others.jobs.find(job)).toBeUndefined();
    const found = await registry.jobs.find(job);
    if (found !== undefined) expect(await others.jobs.haveTargetsOutside([found])).toEqual([true]);
  });

  it('has no later call of a job from before, because its arguments are of that time', async () => {
    const device = await register();
    await connect(device);
    const job = newJob({ id: v7() as JobId, devices: { ids: [device] }, createdById: 'KEY:other' });
    await createJob(registry.jobCommands, job);
    const fence = await registry.targetQueue.takeOwnership(job.id, (await registry.takeLease()).id);
    if (fence === undefined) throw new TypeError('No fence.');
    await registry.targetPreparation.prepareChunk(fence, [], 10, Date.now());
    await registry.targetPreparation.freeze(fence, []);
    const prepared = await registry.jobs.find(job.id);
    if (prepared !== undefined) await registry.jobCommands.transition(prepared, { state: 'RUNNING' }, Date.now());
    await tick();
    await tag(device, ['called']);
    await tick();
    const [target] = await registry.targetQueue.claim(fence, 1, Date.now());
    if (target === undefined) throw new TypeError('No target.');
    const { callId, claim } = target;
    const to = { kind: 'decided', outcome: 'FAILED', certainty: 'YES', error: undefined, result: undefined } as const;
    const times = { startedAt: Date.now(), at: Date.now() };
    await registry.targetQueue.flush(fence, [{ deviceId: device, claim, to, ...times }]);
    const waysIn = async (devices: DeviceFilter) => {
      const { calls } = registry.viewFor({ id: 'KEY:narrow', devices });
      const [page, [own], found] = [
        await calls.page({}, FIRST),
        await calls.pagesOf([device], FIRST),
        await calls.find(callId),
      ];
      return [page.rows, own?.rows ?? [], [found]].map((rows) => rows.some((row) => row?.id === callId));
    };
    expect(await waysIn({ ids: [device] })).toEqual([true, true, true]);
    expect(await waysIn({ tags: ['called'] })).toEqual([false, false, false]);
  });

  it('has no session and no tools from before', async () => {
    const device = await register();
    await connect(device);
    await tick();
    await tag(device, ['late']);
    const view = registry.viewFor({ id: 'KEY:narrow', devices: { tags: ['late'] } });
    expect(await view.devices.sessions([device], 9)).toEqual([[]]);
    await tick();
    await connect(device);
    expect((await view.devices.sessions([device], 9))[0]).toHaveLength(1);
    const until = Date.now() + 1_000;
    const history = await view.fleetFigures.onlineHistory(
      { ids: [device] },
      { since: until - 60_000, until, points: 3 },
    );
    expect(history.map(({ onlineCount }) => onlineCount)).toEqual([0, 0, 1]);
    expect((await view.fleetFigures.callCounts(undefined, until - 60_000)).outcomes).toEqual([]);
  });
});
