/**
 * What devices report becomes measurements, and boots that no act of the hub explains become
 * unexpected restarts, over the built hub. [docs/measurements.md]
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectAgent } from '../src/agents/agent-client.js';
import { callTool, eventsOf } from '../src/devices/device-api.js';
import { createEnrolmentLink } from '../src/devices/provisioning-api.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { eventually } from '../src/eventually.js';
import { ask } from '../src/api/graphql-client.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { online } from '../src/jobs/job-api.js';

const DEVICES = 5;
const STATUS = 'self.get_device_status';
const VOLUME = `${STATUS}:audio_speaker.volume`;

interface Series {
  readonly path: string;
  readonly latest: number | null;
  readonly points: readonly { readonly min: number; readonly mean: number; readonly max: number }[];
}

describe('what devices report', () => {
  let hub: HubProcess;
  let fleet: SimulatedFleet;
  let ids: readonly string[];
  const since = new Date(Date.now() - 3_600_000).toISOString();

  beforeAll(async () => {
    hub = await startHub();
    const ota = await createEnrolmentLink(hub, { maxDevices: DEVICES });
    fleet = startFleet(hub, { devices: DEVICES, profile: 'lamp', seed: 22, ota });
    await online(hub, DEVICES);
    ids = (await ask<{ devices: { nodes: { id: string }[] } }>(hub, '{ devices { nodes { id } } }')).devices.nodes.map(
      ({ id }) => id,
    );
  });
  afterAll(async () => {
    await fleet.stop();
    await hub.stop();
    removeDataDir(hub.dataDir);
  });

  async function seriesOf(id: string, paths: readonly string[]): Promise<readonly Series[]> {
    const query = `query ($id: ID!, $paths: [String!]!, $since: DateTime!) { device(id: $id) {
      measurements(paths: $paths, since: $since) { path latest points { min mean max } } } }`;
    return (await ask<{ device: { measurements: Series[] } }>(hub, query, { id, paths, since })).device.measurements;
  }

  async function restartsOf(id: string): Promise<number> {
    const query = 'query ($id: ID!, $since: DateTime!) { device(id: $id) { unexpectedRestarts(since: $since) } }';
    return (await ask<{ device: { unexpectedRestarts: number } }>(hub, query, { id, since })).device.unexpectedRestarts;
  }

  it('is recorded by rules for each caller, and read as series of a device and of the fleet', async () => {
    const input = { devices: { all: true }, path: VOLUME, deadband: 10, minIntervalSeconds: 0 };
    const save =
      'mutation ($input: RecordingRuleInput!) { setRecordingRule(input: $input) { userErrors { message } } }';
    expect(await ask(hub, save, { input })).toEqual({ setRecordingRule: { userErrors: [] } });
    const [first = '', ...others] = ids;
    for (const id of ids) await callTool(hub, { deviceId: id, tool: STATUS });
    // The smaller change is within the deadband.
    for (const volume of [75, 20]) {
      await callTool(hub, { deviceId: first, tool: 'self.audio_speaker.set_volume', arguments: { volume } });
      await callTool(hub, { deviceId: first, tool: STATUS });
    }
    const [series] = await eventually(
      () => seriesOf(first, [VOLUME]),
      ([found]) => found?.latest === 20,
    );
    const bounds = series?.points.flatMap(({ min, max }) => [min, max]) ?? [];
    expect([Math.max(...bounds), Math.min(...bounds)]).toEqual([70, 20]);
    const fleetQuery = `query ($path: String!, $since: DateTime!) { fleetMeasurementPaths
      fleetMeasurements(path: $path, since: $since, points: 1) { points { min mean max deviceCount } } }`;
    const answer = await eventually(
      () =>
        ask<{
          fleetMeasurementPaths: string[];
          fleetMeasurements: { points: { min: number; mean: number; max: number; deviceCount: number }[] };
        }>(hub, fleetQuery, { path: VOLUME, since }),
      ({ fleetMeasurements: { points } }) => points.reduce((sum, { deviceCount }) => sum + deviceCount, 0) >= DEVICES,
    );
    expect(answer.fleetMeasurementPaths).toContain(VOLUME);
    expect(answer.fleetMeasurements.points.at(-1)).toMatchObject({ min: 20, max: 70 });
    expect(others).toHaveLength(DEVICES - 1);
  });

  it('is read by an agent, of one device and of all together', async () => {
    const agent = await connectAgent(hub);
    const read = async (args: Readonly<Record<string, unknown>>) =>
      (await agent.callTool({ name: 'read_measurements', arguments: { ...args } })).structuredContent;
    const [first = ''] = ids;
    const recorded = { path: VOLUME, latest: 20, latestAt: expect.any(String) };
    expect(await read({ device: first })).toMatchObject({ paths: expect.arrayContaining([recorded]) });
    expect(await read({})).toMatchObject({ paths: expect.arrayContaining([{ path: VOLUME }]) });
    const one = { points: [{ min: 20, max: 70 }] };
    expect(await read({ device: first, path: VOLUME, points: 1 })).toMatchObject(one);
    const all = { points: [{ ...one.points[0], devices: DEVICES }] };
    expect(await read({ path: VOLUME, points: 1 })).toMatchObject(all);
    expect(await read({ path: 'none' })).toMatchObject({ points: [], hint: expect.stringContaining('without path') });
    await agent.close();
  });

  it('counts a boot that nothing explains, and not one after a call that restarts the device', async () => {
    const [, crashed = '', called = ''] = ids;
    await fleet.perform({ cmd: 'behaviour', device: crashed, behaviour: { kind: 'reboot' } });
    await callTool(hub, { deviceId: called, tool: 'self.reboot' });
    // The hub judges a restart after 20 seconds, when the records of calls are written.
    await eventually(
      () => restartsOf(crashed),
      (count) => count === 1,
      60_000,
    );
    const events = await eventually(
      () => eventsOf(hub, crashed, 'device.restarted_unexpectedly'),
      (found) => found.length > 0,
    );
    expect(events).toMatchObject([{ via: 'ota' }]);
    const metrics = async () => {
      const answer = await fetch(`${hub.httpUrl}/metrics`, { headers: { authorization: `Bearer ${hub.adminKey}` } });
      return answer.text();
    };
    await eventually(metrics, (text) => /flotilla_\w*restarts\w*\{[^}]*CALL[^}]*\} 1/i.test(text), 60_000);
    expect(await restartsOf(called)).toBe(0);
    const health = 'query ($since: DateTime!) { firmwareHealth(since: $since) { version unexpectedRestarts } }';
    const { firmwareHealth } = await ask<{ firmwareHealth: { unexpectedRestarts: number }[] }>(hub, health, { since });
    expect(firmwareHealth.map(({ unexpectedRestarts }) => unexpectedRestarts)).toEqual([1]);
  });
});
