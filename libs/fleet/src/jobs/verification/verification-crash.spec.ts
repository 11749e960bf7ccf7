import type { CallOutcome, DeviceId, JobId } from '@flotilla/mcp';
import type { TargetRow } from '@flotilla/registry';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ToolGate } from '../../calls/tool-gate.js';
import { boardTools, openHub, quickVerification, realClock, silent, startJob } from '../../fleet-fixture.suite.js';
import type { HubFixture, HubProcess } from '../../fleet-fixture.suite.js';
import { JobRunner } from '../job-runner.js';

const closed: CallOutcome = {
  kind: 'UNKNOWN',
  certainty: 'YES',
  error: { code: 'SESSION_CLOSED', message: 'the session ended' },
};
const upgrade = { tool: 'self.upgrade_firmware', arguments: { url: 'https://files.example/2.0.0.bin' } };

describe('verification by a process that did not send', () => {
  let fixture: HubFixture;
  let hub: HubProcess;

  beforeAll(async () => {
    fixture = await openHub({ withWorker: false });
    hub = fixture.hub;
  });
  afterAll(() => fixture.close());

  it('goes on from the rows, and takes no device that the crash cut off for restarted', async () => {
    await hub.connect(['upgrades', 'unchanged', 'restarts', 'cut-off']);
    hub.gateway.behave = ({ deviceId }, settle) => {
      // The call of this one is under way when the process dies.
      if (deviceId !== 'cut-off') settle(closed);
    };
    const deps = {
      ...hub,
      clock: realClock,
      logger: silent,
      gate: new ToolGate(['https://files.example/']),
      verification: quickVerification,
    };
    const runner = new JobRunner(deps, hub.lease);
    const upgrades = await startJob(hub, ['upgrades', 'unchanged'], upgrade);
    const reboots = await startJob(hub, ['restarts', 'cut-off'], { tool: 'self.reboot' });
    await runner.drive(upgrades);
    await runner.drive(reboots);
    await expect.poll(() => hub.progress(upgrades), { timeout: 10_000 }).toMatchObject({ verifying: 2 });
    await expect.poll(() => hub.progress(reboots), { timeout: 10_000 }).toMatchObject({ verifying: 1, inFlight: 1 });
    await hub.disconnect('restarts');
    runner.abandon();

    const successor = await fixture.startAnother();
    await successor.worker.start();
    await expect.poll(() => successor.progress(reboots), { timeout: 10_000 }).toMatchObject({ verifying: 2 });
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
    for (const jobId of [upgrades, reboots]) expect(await successor.registry.jobs.reconcile(jobId)).toBe(0);
    await runner.stop();
  });
});

async function rowsOf({ registry }: HubProcess, jobId: JobId): Promise<readonly (readonly [DeviceId, TargetRow])[]> {
  const [page] = await registry.jobs.targets([jobId], {}, { first: 10 });
  return (page?.rows ?? []).map((row) => [row.deviceId, row]);
}
