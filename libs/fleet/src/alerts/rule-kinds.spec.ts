/** What each kind of rule fires for, over a real database. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { deviceNames, startJob } from '../fleet-fixture.suite.js';
import { withAlertBench } from './alert-bench.suite.js';
import type { AlertBench } from './alert-bench.suite.js';

describe('a rule', () => {
  let bench: AlertBench;
  withAlertBench((opened) => (bench = opened));

  it('fires for a job that an abort rule stopped, and for a failing share of calls', async () => {
    const names = deviceNames(6, randomUUID());
    await bench.hub.connect(names);
    const stopped = await bench.ruled({ kind: 'JOB_STOPPED', forSeconds: 0 });
    const ratio = await bench.ruled({
      kind: 'CALL_FAILURE_RATIO',
      forSeconds: 0,
      threshold: 0.5,
      devices: { ids: names },
    });
    const former = bench.hub.gateway.behave;
    const error = { code: 'DEVICE_ERROR', message: 'no' } as const;
    bench.hub.gateway.behave = (_call, settle) => settle({ kind: 'FAILED', certainty: 'YES', error });
    // Fewer than five calls say nothing about a share.
    const abort = [{ outcomes: ['FAILED'], scope: 'JOB', count: 5, action: 'PAUSE' }] as const;
    const jobId = await startJob(bench.hub, names, { abort, maxInFlight: 1 });
    await bench.hub.clock.until(async () => (await bench.hub.job(jobId)).state).toBe('PAUSED');
    bench.hub.gateway.behave = former;
    await bench.rounds(bench.worker, 2);
    expect(await bench.alertsOf(stopped)).toMatchObject([{ deviceCount: 0, facts: { jobId, reason: 'abort rule' } }]);
    expect(await bench.alertsOf(ratio)).toMatchObject([{ facts: { value: 1 } }]);
  });

  it('fires for a share of the fleet, and not for what the stop of the hub disconnected', async () => {
    const names = deviceNames(10, randomUUID());
    await bench.hub.connect(names);
    const plan = { kind: 'FLEET_OFFLINE_SHARE', threshold: 0.3, forSeconds: 4, devices: { ids: names } } as const;
    const rule = await bench.ruled(plan);
    await Promise.all(names.slice(0, 2).map((name) => bench.hub.disconnect(name)));
    await bench.rounds(bench.worker, 6);
    expect(await bench.alertsOf(rule)).toEqual([]);
    await bench.hub.disconnect(names[2] ?? '');
    await bench.rounds(bench.worker, 6);
    expect(await bench.alertsOf(rule)).toMatchObject([{ facts: { value: 0.3, total: 10, threshold: 0.3 } }]);
  });

  it('fires for a value below the threshold, until the device reports another', async () => {
    const [low = '', high = ''] = deviceNames(2, randomUUID());
    await bench.hub.connect([low, high]);
    const path = 'self.get_device_status:battery.level';
    const { measurements } = bench.hub.registry;
    const report = async (deviceId: string, value: number) => {
      measurements.add({ deviceId, path, at: bench.hub.clock.now(), value, ruleId: 'spec' });
      const latest = async () => (await measurements.latestOf([deviceId])).get(deviceId)?.[0]?.value;
      await expect.poll(latest).toBe(value);
    };
    const limit = { path, threshold: 20, below: true, forSeconds: 4, devices: { ids: [low, high] } };
    const rule = await bench.ruled({ kind: 'MEASUREMENT', ...limit });
    await report(low, 12);
    await report(high, 20);
    await bench.rounds(bench.worker, 10);
    expect(await bench.alertsOf(rule)).toMatchObject([{ deviceId: low, deviceCount: 1, facts: { value: 12, path } }]);
    expect(String(bench.received()[0]?.data['text'])).toContain(`${path} is below 20 (12)`);
    await report(low, 60);
    await bench.rounds(bench.worker, 4);
    expect(bench.types()).toEqual(['alert.fired', 'alert.resolved']);
  });

  it('has thresholds below zero for values only: a freezer is too warm above -18.5', async () => {
    const [warm = '', cold = ''] = deviceNames(2, randomUUID());
    await bench.hub.connect([warm, cold]);
    const path = 'self.get_device_status:freezer.temperature';
    const { measurements } = bench.hub.registry;
    const report = (deviceId: string, value: number) =>
      measurements.add({ deviceId, path, at: bench.hub.clock.now(), value, ruleId: 'spec' });
    const limit = { path, threshold: -18.5, forSeconds: 4, devices: { ids: [warm, cold] } };
    const rule = await bench.ruled({ kind: 'MEASUREMENT', ...limit });
    report(warm, -12.25);
    report(cold, -21);
    await expect.poll(async () => (await measurements.latestOver({ filter: {}, path })).length).toBe(2);
    await bench.rounds(bench.worker, 10);
    expect(await bench.alertsOf(rule)).toMatchObject([{ deviceId: warm, facts: { value: -12.25, threshold: -18.5 } }]);
    expect(String(bench.received()[0]?.data['text'])).toContain(`${path} is above -18.5 (-12.25)`);
    for (const kind of ['FLEET_OFFLINE_SHARE', 'CALL_FAILURE_RATIO', 'UNEXPECTED_RESTARTS'] as const)
      await expect(bench.ruled({ kind, threshold: -0.1 })).rejects.toThrow('A threshold is 0 or more.');
  });

  it('forgets a value of a device that was away for a day, and keeps that of one that is online', async () => {
    const [online = '', away = ''] = deviceNames(2, randomUUID());
    await bench.hub.connect([online, away]);
    const path = 'self.get_device_status:chip.temperature';
    const { measurements } = bench.hub.registry;
    const at = bench.hub.clock.now();
    for (const deviceId of [online, away]) measurements.add({ deviceId, path, at, value: 90, ruleId: 'spec' });
    await expect.poll(async () => (await measurements.latestOver({ filter: {}, path })).length).toBe(2);
    await bench.hub.disconnect(away);
    const over = async (now: number) =>
      (await measurements.latestOver({ filter: {}, path, above: 80, since: at, seenSince: now })).map(
        ({ deviceId }) => deviceId,
      );
    expect(await over(at)).toEqual([online, away].sort());
    expect(await over(bench.hub.clock.now() + 1)).toEqual([online]);
  });
});
