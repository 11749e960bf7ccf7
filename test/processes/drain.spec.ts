/** SIGTERM drains a hub: calls in flight get their answer, and a second signal stops at once. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { callTool } from '../src/devices/device-api.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { eventually } from '../src/eventually.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { online } from '../src/jobs/job-api.js';

const lamp = 'self.lamp.turn_on';
/** Longer than the drain would take without a call. */
const ANSWER_AFTER_MS = 2_000;

let hub: HubProcess;
let fleet: SimulatedFleet;
let deviceId: string;

const ready = async () => {
  const answer = await fetch(`${hub.httpUrl}/health/ready`);
  return { status: answer.status, body: (await answer.json()) as unknown };
};
const isUnderWay = () =>
  eventually(
    async () => (await fleet.counts()).devices[deviceId]?.[lamp] ?? 0,
    (count) => count === 1,
  );

beforeEach(async () => {
  hub = await startHub();
  fleet = startFleet(hub, { devices: 1, profile: 'lamp', seed: 17 });
  await online(hub, 1);
  [deviceId = ''] = Object.keys(await fleet.calls());
});
afterEach(async () => {
  await fleet.stop();
  removeDataDir(hub.dataDir);
});

describe('a hub that receives SIGTERM', () => {
  it('answers the call in flight, is not ready meanwhile, and stops after that', async () => {
    await fleet.perform({
      cmd: 'behaviour',
      device: '*',
      behaviour: { kind: 'slow', ms: ANSWER_AFTER_MS, tool: lamp },
    });
    const called = callTool(hub, { deviceId, tool: lamp });
    await isUnderWay();
    const stopped = hub.stop('SIGTERM');
    expect(await eventually(ready, ({ status }) => status === 503)).toEqual({
      status: 503,
      body: { status: 'draining', problems: ['draining'] },
    });
    expect((await fetch(`${hub.httpUrl}/health/live`)).status).toBe(200);
    expect(await called).toMatchObject({ outcome: 'SUCCEEDED' });
    expect(await stopped).toBe(0);
  });

  it('stops at once for a second signal, and the call in flight is unknown', async () => {
    await fleet.perform({ cmd: 'behaviour', device: '*', behaviour: { kind: 'silent', tool: lamp } });
    const called = callTool(hub, { deviceId, tool: lamp, timeoutMs: 60_000 });
    await isUnderWay();
    void hub.stop('SIGTERM');
    await eventually(ready, ({ status }) => status === 503);
    const stopped = hub.stop('SIGINT');
    expect(await called).toMatchObject({ outcome: 'UNKNOWN', error: { code: 'SESSION_CLOSED' } });
    expect(await stopped).toBe(0);
  });
});

describe('FLOTILLA_DRAIN_SECONDS=0', () => {
  it('stops at once for SIGTERM', async () => {
    await fleet.stop();
    await hub.stop();
    hub = await startHub({ dataDir: hub.dataDir, env: { FLOTILLA_DRAIN_SECONDS: '0' } });
    fleet = startFleet(hub, { devices: 1, profile: 'lamp', seed: 17 });
    await online(hub, 1);
    await fleet.perform({ cmd: 'behaviour', device: '*', behaviour: { kind: 'silent', tool: lamp } });
    const called = callTool(hub, { deviceId, tool: lamp, timeoutMs: 60_000 });
    await isUnderWay();
    expect(await hub.stop('SIGTERM')).toBe(0);
    expect(await called).toMatchObject({ outcome: 'UNKNOWN' });
  });
});
