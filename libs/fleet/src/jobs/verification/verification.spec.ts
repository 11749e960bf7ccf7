/** What the shell adds to the judgements of libs/jobs: calls, slots, records, and a crash. */
import { defaultToolPolicy } from '@flotilla/jobs';
import type { CallOutcome, DeviceId, JobId } from '@flotilla/mcp';
import type { TargetRow } from '@flotilla/registry';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CallRules } from '../../calls/call-rules.js';
import { observeJobCalls } from '../../calls/observe-calls.js';
import {
  admin,
  answers,
  boardTools,
  deviceNames,
  openHub,
  quickVerification,
  silent,
  startJob,
} from '../../fleet-fixture.suite.js';
import type { HubFixture, HubProcess } from '../../fleet-fixture.suite.js';
import { JobRunner } from '../job-runner.js';

const closed: CallOutcome = {
  kind: 'UNKNOWN',
  certainty: 'YES',
  error: { code: 'SESSION_CLOSED', message: 'the session ended' },
};
const silence: CallOutcome = { kind: 'UNKNOWN', certainty: 'YES', error: { code: 'TIMEOUT', message: 'no answer' } };
const upgrade = { tool: 'self.upgrade_firmware', arguments: { url: 'https://files.example/2.0.0.bin' } };
const setVolume = { tool: 'self.audio_speaker.set_volume', arguments: { volume: 30 } };

describe('a job with a verification', () => {
  let fixture: HubFixture;
  let hub: HubProcess;

  beforeAll(async () => {
    fixture = await openHub();
    hub = fixture.hub;
  });
  beforeEach(() => {
    hub.gateway.behave = (_, settle) => settle(answers('true'));
    hub.gateway.forget();
  });
  afterAll(() => fixture.close());

  async function targetOf(jobId: JobId): Promise<TargetRow> {
    const [page] = await hub.registry.jobs.targets([jobId], {}, { first: 1 });
    const [row] = page?.rows ?? [];
    if (row === undefined) throw new TypeError('No target.');
    return row;
  }

  /** The only target's row at the end of the job, whose counters are honest. */
  async function endOf(jobId: JobId): Promise<TargetRow> {
    await hub.finished(jobId);
    expect(await hub.registry.jobCommands.reconcile(jobId)).toBe(0);
    return targetOf(jobId);
  }

  async function verifying(jobId: JobId): Promise<void> {
    await hub.clock.until(() => hub.progress(jobId)).toMatchObject({ verifying: 1, inFlight: 0 });
  }

  /** Devices that report `shown` as their volume, and take no call before the end of a moment. */
  function tellVolume(shown: number): void {
    hub.gateway.behave = ({ call }, settle) => {
      const status = JSON.stringify({ audio_speaker: { volume: shown } });
      hub.clock.setTimer(5, () => settle(answers(call.tool === 'self.get_device_status' ? status : 'true')));
    };
  }

  const toolsSeen = () => hub.gateway.seen.map(({ call }) => call.tool);

  it('succeeds where the value reads back, within its slots, and leaves one record per target', async () => {
    const ids = deviceNames(40, 'reads');
    await hub.connect(ids);
    tellVolume(30);
    const jobId = await startJob(hub, ids, { ...setVolume, verification: 'READBACK', maxInFlight: 6 });
    expect(await hub.finished(jobId)).toMatchObject({ conclusion: 'SUCCEEDED' });
    expect(await hub.progress(jobId)).toMatchObject({ succeeded: 40 });
    expect(toolsSeen().filter((tool) => tool === 'self.get_device_status')).toHaveLength(40);
    expect(hub.gateway.inFlightMost).toBeLessThanOrEqual(6);
    expect((await hub.registry.calls.page({ deviceId: ids[0] as DeviceId }, { first: 10 })).rows).toHaveLength(1);
  });

  it('says so where the value cannot be read', async () => {
    await hub.connect(
      ['blind'],
      boardTools.filter(({ name }) => name !== 'self.get_device_status'),
    );
    const row = await endOf(await startJob(hub, ['blind'], { ...setVolume, verification: 'READBACK' }));
    expect(row).toMatchObject({ outcome: 'UNKNOWN', error: { code: 'NOT_VERIFIED' } });
  });

  it('does not quote values of a tool that is user-only on some device', async () => {
    await hub.connect(
      ['guarded'],
      boardTools.map((tool) => ({ ...tool, userOnly: tool.userOnly || tool.name === setVolume.tool })),
    );
    tellVolume(77);
    const { outcome, error } = await endOf(
      await startJob(hub, ['guarded'], { ...setVolume, verification: 'READBACK' }),
    );
    expect(outcome).toBe('VERIFY_FAILED');
    expect(error?.message).toBe('audio_speaker.volume is not the value that was set.');
  });

  it('sends nothing where the value is there already, and sends where it is not', async () => {
    await hub.connect(['content', 'other']);
    hub.gateway.behave = ({ call, deviceId }, settle) =>
      settle(
        answers(
          call.tool === 'self.get_device_status'
            ? `{"audio_speaker":{"volume":${deviceId === 'content' ? 30 : 5}}}`
            : 'true',
        ),
      );
    const jobId = await startJob(hub, ['content', 'other'], { ...setVolume, skipIfSatisfied: true });
    await hub.finished(jobId);
    expect(await hub.progress(jobId)).toMatchObject({ noChange: 1, succeeded: 1 });
    expect(hub.gateway.seen.filter(({ call }) => call.tool === setVolume.tool).map(({ deviceId }) => deviceId)).toEqual(
      ['other'],
    );
  });

  it('sends the call where the value cannot be read, even if that takes longer than a lease', async () => {
    await hub.connect(['mute']);
    hub.gateway.behave = ({ call }, settle) => {
      if (call.tool === setVolume.tool) settle(answers('true'));
      else hub.clock.setTimer(call.callTimeoutMs, () => settle(silence));
    };
    const row = await endOf(
      await startJob(hub, ['mute'], { ...setVolume, callTimeoutMs: 16_000, skipIfSatisfied: true }),
    );
    expect(row).toMatchObject({ outcome: 'SUCCEEDED', attempts: 1 });
    expect(toolsSeen()).toEqual(['self.get_device_status', setVolume.tool]);
  });

  it('reads the value again where the device has another session after a read that took too long', async () => {
    await hub.connect(['moved']);
    let reads = 0;
    hub.gateway.behave = ({ call }, settle) => {
      if (call.tool !== setVolume.tool && (reads += 1) > 1) return settle(answers('{"audio_speaker":{"volume":30}}'));
      hub.clock.setTimer(call.callTimeoutMs, () => settle(silence));
    };
    const jobId = await startJob(hub, ['moved'], { ...setVolume, callTimeoutMs: 16_000, skipIfSatisfied: true });
    await expect.poll(() => reads).toBe(1);
    await hub.disconnect('moved');
    await hub.connect(['moved']);
    expect(await endOf(jobId)).toMatchObject({ outcome: 'NO_CHANGE' });
    expect(reads).toBe(2);
  });

  /** Sends an upgrade and has the device leave in the middle of it. */
  async function upgrading(name: string): Promise<JobId> {
    await hub.connect([name]);
    hub.gateway.behave = (_, settle) => settle(closed);
    const jobId = await startJob(hub, [name], upgrade);
    await verifying(jobId);
    await hub.disconnect(name);
    return jobId;
  }

  it('succeeds where a device comes back with a new firmware and stays, and frees its slot meanwhile', async () => {
    const jobId = await upgrading('upgrades');
    await hub.connect(['upgrades'], boardTools, '2.0.0');
    await hub.clock.pass(100);
    expect(await targetOf(jobId)).toMatchObject({ state: 'VERIFYING', baselineVersion: '1.0.0' });
    expect(await endOf(jobId)).toMatchObject({ outcome: 'SUCCEEDED', attempts: 1 });
  });

  it('takes a late answer of an upgrade for its failure, and has the device restart once', async () => {
    await hub.connect(['late']);
    const followed: string[] = [];
    const unfollow = hub.bus.feed.subscribe('event', ({ deviceId, type }) => {
      if (deviceId === 'late') followed.push(type);
    });
    hub.gateway.behave = (_, settle) => settle(silence);
    const jobId = await startJob(hub, ['late'], upgrade);
    await verifying(jobId);
    const callId = hub.gateway.seen[0]?.call.callId;
    if (callId !== undefined) hub.bus.feed.publish('lateAnswer', { callId, outcome: answers('true') });
    const row = await endOf(jobId);
    expect(row).toMatchObject({ outcome: 'VERIFY_FAILED', error: { code: 'UPDATE_DID_NOT_START_OR_FAILED' } });
    expect(row.error?.message).toContain('asks the device to restart');
    await hub.clock.until(toolsSeen).toEqual([upgrade.tool, 'self.reboot']);
    const events = async () =>
      (await hub.registry.events.page({ deviceId: 'late' as DeviceId }, 'AT_DESC', { first: 50 })).rows;
    await hub.clock
      .until(async () => (await events()).filter(({ type }) => type === 'device.restarted_after_upgrade'))
      .toHaveLength(1);
    await expect.poll(() => followed).toContain('device.restarted_after_upgrade');
    unfollow();
  });

  it('ends UNKNOWN when it is cancelled by force, and awaits its devices when it is not', async () => {
    const forced = await upgrading('forced');
    await hub.fleet.cancelJob(forced, true, admin);
    expect(await endOf(forced)).toMatchObject({ outcome: 'UNKNOWN', error: { code: 'SESSION_CLOSED' } });
    const awaited = await upgrading('awaited');
    await hub.fleet.cancelJob(awaited, false, admin);
    await hub.connect(['awaited'], boardTools, '2.0.0');
    expect(await endOf(awaited)).toMatchObject({ outcome: 'SUCCEEDED' });
    expect(await hub.job(awaited)).toMatchObject({ conclusion: 'CANCELLED' });
  });
});

describe('verification by a process that did not send', () => {
  let fixture: HubFixture;
  let hub: HubProcess;

  beforeAll(async () => {
    fixture = await openHub({ withWorker: false });
    hub = fixture.hub;
  });
  afterAll(() => fixture.close());

  it('counts an unanswered restart as one only where the job verifies it', async () => {
    const names = ['verified', 'unverified'];
    await hub.connect(names);
    hub.gateway.behave = (_, settle) => settle(closed);
    const observed: string[] = [];
    const bus = observeJobCalls(hub.bus, (_origin, outcome) => void observed.push(outcome));
    const deps = { ...hub, bus, logger: silent, callRules: new CallRules([]), verification: quickVerification };
    const runner = new JobRunner(deps, hub.lease);
    const unverified = { ...defaultToolPolicy, pattern: 'self.lamp.turn_on', disconnectExpected: true };
    await hub.fleet.setToolPolicy(unverified, admin);
    for (const [index, tool] of ['self.reboot', unverified.pattern].entries()) {
      await runner.drive(await startJob(hub, names.slice(index, index + 1), { tool }));
      await hub.clock.until(() => observed).toHaveLength(index + 1);
    }
    expect(observed).toEqual(['RESTARTED', 'UNKNOWN']);
    await hub.clock.during(runner.stop());
  });

  it('goes on from the rows, and takes no device that the crash cut off for restarted', async () => {
    await hub.connect(['upgrades', 'unchanged', 'restarts', 'cut-off']);
    hub.gateway.behave = ({ deviceId }, settle) => {
      // The call of this one is under way when the process dies.
      if (deviceId !== 'cut-off') settle(closed);
    };
    const deps = {
      ...hub,
      logger: silent,
      callRules: new CallRules(['https://files.example/']),
      verification: quickVerification,
    };
    const runner = new JobRunner(deps, hub.lease);
    const upgrades = await startJob(hub, ['upgrades', 'unchanged'], upgrade);
    const reboots = await startJob(hub, ['restarts', 'cut-off'], { tool: 'self.reboot' });
    await runner.drive(upgrades);
    await runner.drive(reboots);
    await hub.clock.until(() => hub.progress(upgrades)).toMatchObject({ verifying: 2 });
    await hub.clock.until(() => hub.progress(reboots)).toMatchObject({ verifying: 1, inFlight: 1 });
    await hub.disconnect('restarts');
    runner.abandon();

    const successor = await fixture.startAnother();
    await successor.worker.start();
    await hub.clock.until(() => successor.progress(reboots)).toMatchObject({ verifying: 2 });
    await successor.connect(['upgrades'], boardTools, '2.0.0');
    await successor.connect(['unchanged', 'restarts', 'cut-off']);
    await successor.finished(upgrades);
    await successor.finished(reboots);
    const rows = new Map([...(await rowsOf(successor, upgrades)), ...(await rowsOf(successor, reboots))]);
    expect(rows.get('upgrades' as DeviceId)).toMatchObject({ outcome: 'SUCCEEDED' });
    expect(rows.get('unchanged' as DeviceId)).toMatchObject({
      outcome: 'VERIFY_FAILED',
      error: { code: 'NOT_APPLIED_OR_ROLLED_BACK' },
    });
    expect(rows.get('restarts' as DeviceId)).toMatchObject({ outcome: 'SUCCEEDED' });
    expect(rows.get('cut-off' as DeviceId)).toMatchObject({ outcome: 'UNKNOWN', error: { code: 'HUB_RESTARTED' } });
    expect([...rows.values()].every(({ attempts }) => attempts === 1)).toBe(true);
    expect(successor.gateway.callCount).toBe(0);
    for (const jobId of [upgrades, reboots]) expect(await successor.registry.jobCommands.reconcile(jobId)).toBe(0);
    await hub.clock.during(runner.stop());
  });
});

async function rowsOf({ registry }: HubProcess, jobId: JobId): Promise<readonly (readonly [DeviceId, TargetRow])[]> {
  const [page] = await registry.jobs.targets([jobId], {}, { first: 10 });
  return (page?.rows ?? []).map((row) => [row.deviceId, row]);
}
