/** kill -9 of the hub in the middle of a job: nothing accepted is lost, nothing that may run only once runs twice. */
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from './src/eventually.js';
import { ask } from './src/graphql-client.js';
import { makeDataDir, removeDataDir, startHub, type HubProcess } from './src/hub-process.js';
import { finished, jobOf, online, readJob, sumOf, targetsOf } from './src/job-api.js';
import { startFleet, type SimulatedFleet } from './src/simulated-fleet.js';

const isLong = process.env['FLOTILLA_TEST_LONG'] === '1';
const KILLS = isLong ? 20 : 3;
const DEVICES = 200;

/** Deterministic spread of the moments of the kills over the job's run. */
function killAfterTargets(kill: number): number {
  return 1 + ((kill * 37) % (DEVICES / 3));
}

describe('kill -9 of the hub during a job', () => {
  let hub: HubProcess | undefined;
  let fleet: SimulatedFleet | undefined;
  const dataDir = makeDataDir();
  const ports: Record<string, string> = {};

  const start = async () => {
    hub = await startHub({ dataDir, env: ports });
    // The devices come back to the same address, as real ones do.
    ports['FLOTILLA_HTTP_PORT'] = String(hub.httpPort);
    ports['FLOTILLA_MQTT_PORT'] = String(hub.mqttPort);
    return hub;
  };

  afterEach(async () => {
    await fleet?.stop();
    await hub?.stop();
    removeDataDir(dataDir);
  });

  it(`ends every job by itself after ${KILLS} kills, with counters equal to rows and no call run twice`, async () => {
    let current = await start();
    fleet = startFleet(current, { devices: DEVICES, profile: 'lamp', args: ['--answer-delay-ms', '40'] });
    for (let kill = 0; kill < KILLS; kill++) {
      const tool = kill % 2 === 0 ? 'self.lamp.turn_on' : 'self.audio_speaker.set_volume';
      await online(current, DEVICES);
      const before = (await fleet.counts()).devices;
      const id = await jobOf(
        current,
        { tool, arguments: kill % 2 === 0 ? {} : { volume: 40 }, devices: { all: true }, maxInFlight: 20, callTimeoutMs: 10_000 },
        `kill-${kill}`,
      );
      await eventually(
        () => readJob(current, id),
        (job) => job.progress.succeeded >= killAfterTargets(kill),
      );
      await current.kill();
      current = await start();
      const job = await finished(current, id, 90_000);
      const targets = await targetsOf(current, id);
      expect(targets).toHaveLength(DEVICES);
      expect(sumOf(job)).toBe(DEVICES);
      const count = (outcome: string) => targets.filter((target) => target.outcome === outcome).length;
      expect(job.progress).toMatchObject({
        total: DEVICES,
        succeeded: count('SUCCEEDED'),
        unknown: count('UNKNOWN'),
        failed: count('FAILED'),
      });
      expect(count('SUCCEEDED') + count('UNKNOWN')).toBe(DEVICES);
      const after = (await fleet.counts()).devices;
      for (const { deviceId, outcome } of targets) {
        const runs = (after[deviceId]?.[tool] ?? 0) - (before[deviceId]?.[tool] ?? 0);
        if (outcome === 'SUCCEEDED') expect(runs).toBeGreaterThanOrEqual(1);
        if (tool === 'self.lamp.turn_on') expect(runs).toBeLessThanOrEqual(1);
        else expect(outcome).toBe('SUCCEEDED');
      }
    }
  });

  it('shows nobody online that is not, right after the crash', async () => {
    const first = await start();
    fleet = startFleet(first, { devices: 10, seed: 5 });
    await online(first, 10);
    await first.kill();
    await fleet.stop();
    fleet = undefined;
    const second = await start();
    const { devices } = await ask<{
      devices: { nodes: { presence: string; sessions: { disconnectedAt: string | null; closeReason: string | null }[] }[] };
    }>(second, '{ devices { nodes { presence sessions(first: 1) { disconnectedAt closeReason } } } }');
    expect(devices.nodes.length).toBeGreaterThanOrEqual(10);
    for (const device of devices.nodes) {
      expect(device.presence).toBe('OFFLINE');
      expect(device.sessions[0]?.disconnectedAt).not.toBeNull();
    }
  });
});
