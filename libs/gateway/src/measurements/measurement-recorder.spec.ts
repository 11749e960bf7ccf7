/** The recorder over a real registry: which reports of devices become points. */
import { randomUUID } from 'node:crypto';
import type { DeviceId, ToolResult } from '@flotilla/mcp';
import { RegistryError } from '@flotilla/registry';
import type { DeviceFilter } from '@flotilla/registry';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../ingress.suite.js';
import { EventLog } from '../sessions/event-log.js';
import { openSpecHub } from '../spec-hub.suite.js';
import { reportAnswer, reportSamples } from './device-reports.js';
import { devicePathsMax, MeasurementRecorder } from './measurement-recorder.js';

const STATUS = 'self.get_device_status';
const hub = openSpecHub();
let recorder: MeasurementRecorder;
let now = Date.now();

beforeAll(async () => {
  for (const { id } of await hub.registry.recordingRules.list()) await remove(id);
  const clock = { now: () => now };
  const events = new EventLog({ events: hub.registry.events, feed: hub.bus.feed, clock });
  recorder = new MeasurementRecorder({
    registry: hub.registry,
    feed: hub.bus.feed,
    events,
    clock,
    logger: silentLogger,
  });
  recorder.start();
});
afterAll(() => recorder.stop());

async function rule(path: string, deadband = 0, minIntervalSeconds = 0, devices: DeviceFilter = {}): Promise<string> {
  const id = randomUUID();
  now += 1_000;
  await hub.registry.recordingRules.save(
    { id, path, deadband, minIntervalSeconds, devices, savedBy: 'spec' },
    { at: now, by: { actor: 'spec' }, isNew: true, rulesMax: 100 },
  );
  await changed(id);
  return id;
}

/** Publishes the change, and waits until subscribers have it. */
async function changed(ruleId: string): Promise<void> {
  let end: () => void = () => undefined;
  await new Promise<void>((resolve) => {
    end = hub.bus.feed.subscribe('recordingRules', (change) => {
      if (change.ruleId === ruleId) resolve();
    });
    hub.bus.feed.publish('recordingRules', { ruleId });
  });
  end();
}

async function remove(id: string): Promise<void> {
  await hub.registry.recordingRules.remove(id, { at: Date.now(), by: { actor: 'spec' } });
  await changed(id);
}

function answer(deviceId: string, state: unknown, tool = STATUS): void {
  now += 1_000;
  const result: ToolResult = { isError: false, content: [{ type: 'text', text: JSON.stringify(state) }] };
  reportAnswer(recorder, deviceId as DeviceId, { tool, result, at: now });
}

async function latestOf(deviceId: string): Promise<Readonly<Record<string, number>>> {
  const points = (await hub.registry.measurements.latestOf([deviceId])).get(deviceId) ?? [];
  return Object.fromEntries(points.map(({ path, value }) => [path, value]));
}

async function countOf(deviceId: string, path: string): Promise<number> {
  const plan = { level: 'RAW', stepMs: 1, from: 0 } as const;
  const period = { since: now - 3_600_000, until: now + 3_600_000 };
  const [series] = await hub.registry.measurements.series({ deviceId, paths: [path], ...period, plan });
  return series?.points.length ?? 0;
}

describe('the recorder', () => {
  it('stores only what a rule wants, and drops changes below its deadband', async () => {
    await rule(`${STATUS}:battery.level`, 5);
    for (const level of [80, 78, 76, 75, 90])
      answer('r1', { battery: { level, charging: false }, chip: { temperature: 40 } });
    await expect.poll(() => latestOf('r1')).toEqual({ [`${STATUS}:battery.level`]: 90 });
    expect(await countOf('r1', `${STATUS}:battery.level`)).toBe(3);
  });

  it('applies the latest saved rule at once, and the former one when it is deleted', async () => {
    const path = `${STATUS}:chip.temperature`;
    await rule(`${STATUS}:chip.*`);
    answer('r2', { chip: { temperature: 40 } });
    await expect.poll(() => countOf('r2', path)).toBe(1);
    const rare = await rule(path, 0, 3_600);
    const voltage = `${STATUS}:chip.voltage`;
    answer('r2', { chip: { temperature: 41, voltage: 3 } });
    // The voltage shows that this report was decided while the rare rule was there.
    await expect.poll(() => latestOf('r2')).toEqual({ [path]: 40, [voltage]: 3 });
    await remove(rare);
    answer('r2', { chip: { temperature: 42 } });
    await expect.poll(() => latestOf('r2')).toEqual({ [path]: 42, [voltage]: 3 });
    expect(await countOf('r2', path)).toBe(2);
  });

  it('goes on with the other rules when the group of one is gone', async () => {
    await rule(`${STATUS}:fan.speed`);
    const lost = await rule(`${STATUS}:fan.noise`, 0, 0, { groupId: randomUUID() });
    answer('r9', { fan: { speed: 7, noise: 3 } });
    await expect.poll(() => latestOf('r9')).toEqual({ [`${STATUS}:fan.speed`]: 7 });
    await remove(lost);
  });

  it('records the samples of microcontrollers, each with its time', async () => {
    await rule('samples:*');
    now += 60_000;
    reportSamples(recorder, 'r3' as DeviceId, { pin: 4, name: 'soil', intervalMs: 1_000, values: [1, 2, 3] }, now);
    reportSamples(recorder, 'r3' as DeviceId, { tool: 'read_light', value: 17 }, now);
    await expect.poll(() => latestOf('r3')).toEqual({ 'samples:read_light': 17, 'samples:soil': 3 });
    expect(await countOf('r3', 'samples:soil')).toBe(3);
  });

  it('records each sample of a ring once, also when a board is back and sends all of them again', async () => {
    await rule('samples:ring', 0, 1);
    const send = (values: readonly number[]) =>
      reportSamples(recorder, 'r10' as DeviceId, { pin: 4, name: 'ring', intervalMs: 10_000, values }, now);
    now += 600_000;
    send([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    await expect.poll(() => countOf('r10', 'samples:ring')).toBe(12);
    now += 10_020;
    send([2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
    await expect.poll(() => latestOf('r10')).toEqual({ 'samples:ring': 13 });
    expect(await countOf('r10', 'samples:ring')).toBe(13);
  });

  it('stops at 200 paths of a device, and names the rule in an event', async () => {
    const id = await rule('many.values:*');
    const values = Object.fromEntries(Array.from({ length: devicePathsMax }, (_, index) => [`v${index}`, index]));
    answer('r4', values, 'many.values');
    await expect.poll(async () => Object.keys(await latestOf('r4')).length, { timeout: 5_000 }).toBe(devicePathsMax);
    answer('r4', { one: 1, more: 2 }, 'many.values');
    const events = async () =>
      (await hub.registry.events.page({ types: ['measurements.limit_reached'] }, 'AT_ASC', { first: 10 })).rows;
    await expect.poll(async () => (await events()).length).toBe(1);
    expect((await events())[0]).toMatchObject({
      deviceId: 'r4',
      data: { ruleId: id, path: 'many.values:one', limit: devicePathsMax, scope: 'DEVICE' },
    });
    expect(Object.keys(await latestOf('r4'))).toHaveLength(devicePathsMax);
  });
});

describe('while PostgreSQL is away', () => {
  let isAway: boolean;
  let warnings: (readonly [details: object, text: string])[];
  let own: MeasurementRecorder;
  const whileThere = <Value>(read: () => Promise<Value>): Promise<Value> =>
    isAway ? Promise.reject(new RegistryError('DATABASE_UNAVAILABLE', 'PostgreSQL is not available.')) : read();
  const report = (deviceId: string, value: number) =>
    own.take({ deviceId: deviceId as DeviceId, at: now + value, numbers: [{ path: 'away:level', value }] });

  beforeEach(() => {
    [isAway, warnings] = [false, []];
    const { measurements, recordingRules } = hub.registry;
    const registry = {
      measurements,
      recordingRules: {
        list: () => whileThere(() => recordingRules.list()),
        matching: (...wanted: Parameters<typeof recordingRules.matching>) =>
          whileThere(() => recordingRules.matching(...wanted)),
      },
    };
    const clock = { now: () => now };
    const logger = { ...silentLogger, warn: (...line: readonly [object, string]) => warnings.push(line) };
    const events = new EventLog({ events: hub.registry.events, feed: hub.bus.feed, clock });
    own = new MeasurementRecorder({ registry, feed: hub.bus.feed, events, clock, logger, retryMs: 1 });
    own.start();
  });
  afterEach(() => own.stop());

  it('keeps reports, also when the rules are too old to use', async () => {
    const id = await rule('away:*');
    report('away-1', 1);
    await expect.poll(() => latestOf('away-1')).toEqual({ 'away:level': 1 });
    [isAway, now] = [true, now + 60_000];
    for (const value of [2, 3]) report('away-1', value);
    await expect.poll(() => warnings.length).toBe(1);
    isAway = false;
    await expect.poll(() => latestOf('away-1')).toEqual({ 'away:level': 3 });
    await remove(id);
    expect(await countOf('away-1', 'away:level')).toBe(3);
  });

  it('keeps the oldest 20,000 reports, and says how many others were dropped', async () => {
    const id = await rule('away:*');
    isAway = true;
    for (let index = 0; index < 20_005; index += 1) report('away-2', index < 20_000 ? 1 : 2);
    await expect.poll(() => warnings.length).toBe(1);
    isAway = false;
    const dropped = 'reported numbers were dropped: PostgreSQL did not answer in time';
    await expect.poll(() => warnings.slice(1)).toEqual([[{ reports: 5 }, dropped]]);
    await expect.poll(() => latestOf('away-2')).toEqual({ 'away:level': 1 });
    await remove(id);
  });

  it('says at a stop how many reports were lost', async () => {
    isAway = true;
    for (const value of [1, 2, 3]) report('away-3', value);
    await expect.poll(() => warnings.length).toBe(1);
    await own.stop();
    expect(warnings.slice(1)).toMatchObject([
      [{ reports: 3, error: { code: 'DATABASE_UNAVAILABLE' } }, expect.any(String)],
    ]);
  });
});
