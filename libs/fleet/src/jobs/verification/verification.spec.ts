import type { CallOutcome, DeviceId, JobId } from '@flotilla/mcp';
import type { TargetRow } from '@flotilla/registry';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { admin, answers, boardTools, deviceNames, openHub, startJob } from '../../fleet-fixture.suite.js';
import type { HubFixture, HubProcess } from '../../fleet-fixture.suite.js';

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

  async function targetOf(jobId: JobId, process = hub): Promise<TargetRow> {
    const [page] = await process.registry.jobs.targets([jobId], {}, { first: 1 });
    const [row] = page?.rows ?? [];
    if (row === undefined) throw new TypeError('No target.');
    return row;
  }

  /** The only target's row at the end of the job, whose counters are honest. */
  async function endOf(jobId: JobId, process = hub): Promise<TargetRow> {
    await process.finished(jobId);
    expect(await process.registry.jobs.reconcile(jobId)).toBe(0);
    return targetOf(jobId, process);
  }

  async function verifying(jobId: JobId): Promise<void> {
    await expect
      .poll(() => hub.progress(jobId), { timeout: 10_000, interval: 10 })
      .toMatchObject({ verifying: 1, inFlight: 0 });
  }

  /** Devices that tell `shown` as their volume, and take no call before the end of a moment. */
  function tellVolume(shown: number): void {
    hub.gateway.behave = ({ call }, settle) => {
      const status = JSON.stringify({ audio_speaker: { volume: shown } });
      setTimeout(() => settle(answers(call.tool === 'self.get_device_status' ? status : 'true')), 5);
    };
  }

  /** Outcome, code and devices of each kind of failure. */
  async function failuresOf(jobId: JobId): Promise<readonly (readonly unknown[])[]> {
    const [groups = []] = await hub.registry.jobs.failureGroups([jobId], 5);
    return groups.map(({ outcome, code, sampleDeviceIds }) => [outcome, code, ...sampleDeviceIds]).sort();
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

  it('fails where another value reads back', async () => {
    await hub.connect(['differs']);
    tellVolume(70);
    const row = await endOf(await startJob(hub, ['differs'], { ...setVolume, verification: 'READBACK' }));
    expect(row).toMatchObject({ outcome: 'VERIFY_FAILED', attempts: 1, error: { code: 'READBACK_DIFFERS' } });
    expect(row.error?.message).toBe('audio_speaker.volume is 70 instead of 30.');
  });

  it('looks at the value where the call had no answer', async () => {
    await hub.connect(['mute']);
    tellVolume(30);
    const told = hub.gateway.behave;
    hub.gateway.behave = (routed, settle) =>
      routed.call.tool === setVolume.tool ? settle(silence) : told(routed, settle);
    expect(
      await endOf(await startJob(hub, ['mute'], { ...setVolume, verification: 'READBACK', maxAttempts: 1 })),
    ).toMatchObject({
      outcome: 'SUCCEEDED',
      attempts: 1,
    });
  });

  it('says so where the value cannot be read', async () => {
    await hub.connect(
      ['blind'],
      boardTools.filter(({ name }) => name !== 'self.get_device_status'),
    );
    const row = await endOf(await startJob(hub, ['blind'], { ...setVolume, verification: 'READBACK' }));
    expect(row).toMatchObject({ outcome: 'UNKNOWN', error: { code: 'NOT_VERIFIED' } });
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

  it('succeeds where a device restarts, whether it answers or not', async () => {
    await hub.connect(['restarts', 'acknowledges']);
    hub.gateway.behave = ({ deviceId }, settle) => {
      settle(deviceId === 'acknowledges' ? answers('true') : closed);
      void hub.disconnect(deviceId).then(() => setTimeout(() => void hub.connect([deviceId]), 100));
    };
    const jobId = await startJob(hub, ['restarts', 'acknowledges'], { tool: 'self.reboot' });
    expect(await hub.finished(jobId)).toMatchObject({ conclusion: 'SUCCEEDED' });
    expect(toolsSeen()).toEqual(['self.reboot', 'self.reboot']);
  });

  it('fails where a device stays, and does not know where it never comes back', async () => {
    await hub.connect(['stays', 'leaves']);
    hub.gateway.behave = ({ deviceId }, settle) => {
      settle(deviceId === 'stays' ? answers('true') : closed);
      if (deviceId === 'leaves') void hub.disconnect(deviceId);
    };
    const jobId = await startJob(hub, ['stays', 'leaves'], { tool: 'self.reboot' });
    expect(await hub.finished(jobId)).toMatchObject({ conclusion: 'FAILED' });
    expect(await failuresOf(jobId)).toEqual([
      ['UNKNOWN', 'LOST_AFTER_RESTART', 'leaves'],
      ['VERIFY_FAILED', 'DID_NOT_RESTART', 'stays'],
    ]);
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
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await targetOf(jobId)).toMatchObject({ state: 'VERIFYING', baselineVersion: '1.0.0' });
    expect(await endOf(jobId)).toMatchObject({ outcome: 'SUCCEEDED', attempts: 1 });
  });

  it('fails where a device comes back as it was, or is rolled back in its soak', async () => {
    const unchanged = await upgrading('unchanged');
    await hub.connect(['unchanged']);
    expect(await endOf(unchanged)).toMatchObject({
      outcome: 'VERIFY_FAILED',
      error: { code: 'NOT_APPLIED_OR_ROLLED_BACK' },
    });
    const rolledBack = await upgrading('rolls-back');
    await hub.connect(['rolls-back'], boardTools, '2.0.0');
    await hub.disconnect('rolls-back');
    await hub.connect(['rolls-back']);
    expect(await endOf(rolledBack)).toMatchObject({
      outcome: 'VERIFY_FAILED',
      error: { code: 'NOT_APPLIED_OR_ROLLED_BACK' },
    });
    expect(toolsSeen()).toEqual([upgrade.tool, upgrade.tool]);
  });

  it('ends UNKNOWN for a lost device, overdue before, and fails one that never began', async () => {
    await hub.connect(['lost', 'idle']);
    hub.gateway.behave = (_, settle) => settle(silence);
    const jobId = await startJob(hub, ['lost', 'idle'], upgrade);
    await expect.poll(() => hub.progress(jobId), { timeout: 10_000 }).toMatchObject({ verifying: 2 });
    await hub.disconnect('lost');
    const { softDeadlineAt = 0 } = await targetOf(jobId);
    expect(await hub.registry.jobs.overdue(jobId, softDeadlineAt + 1_000, 0)).toEqual(new Map([[1, 1]]));
    await hub.finished(jobId);
    expect(await failuresOf(jobId)).toEqual([
      ['UNKNOWN', 'LOST_AFTER_UPDATE', 'lost'],
      ['VERIFY_FAILED', 'UPDATE_DID_NOT_START_OR_FAILED', 'idle'],
    ]);
  });

  it('takes a late answer of an upgrade for its failure, and has the device restart once', async () => {
    await hub.connect(['late']);
    hub.gateway.behave = (_, settle) => settle(silence);
    const jobId = await startJob(hub, ['late'], upgrade);
    await verifying(jobId);
    const callId = hub.gateway.seen[0]?.call.callId;
    if (callId !== undefined) hub.bus.feed.publish('lateAnswer', { callId, outcome: answers('true') });
    const row = await endOf(jobId);
    expect(row).toMatchObject({ outcome: 'VERIFY_FAILED', error: { code: 'UPDATE_DID_NOT_START_OR_FAILED' } });
    expect(row.error?.message).toContain('asks the device to restart');
    await expect.poll(toolsSeen).toEqual([upgrade.tool, 'self.reboot']);
    const events = async () =>
      (await hub.registry.events.page({ deviceId: 'late' as DeviceId }, 'AT_DESC', { first: 50 })).rows;
    await expect
      .poll(async () => (await events()).filter(({ type }) => type === 'device.restarted_after_upgrade'))
      .toHaveLength(1);
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
