/**
 * The reported state of a device: read after a tool that changes it, published as an event, shown
 * with the device.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool, eventsOf } from '../src/devices/device-api.js';
import { eventually } from '../src/eventually.js';
import { ask } from '../src/api/graphql-client.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { online } from '../src/jobs/job-api.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';

interface DeviceState {
  readonly id: string;
  readonly reportedState: Readonly<Record<string, { readonly audio_speaker?: { readonly volume: number } }>> | null;
  readonly reportedStateAt: string | null;
}

const STATUS = 'self.get_device_status';

describe("a device's own state", () => {
  let hub: HubProcess;
  let fleet: SimulatedFleet;
  let ids: readonly string[];

  const stateOf = async (id: string): Promise<DeviceState> =>
    (
      await ask<{ device: DeviceState }>(
        hub,
        'query ($id: ID!) { device(id: $id) { id reportedState reportedStateAt } }',
        { id },
      )
    ).device;

  beforeAll(async () => {
    hub = await startHub({ env: { FLOTILLA_STATUS_INTERVAL_SECONDS: '10' } });
    fleet = startFleet(hub, { devices: 6, profile: 'lamp' });
    await online(hub, 6);
    ids = (await ask<{ devices: { nodes: { id: string }[] } }>(hub, '{ devices { nodes { id } } }')).devices.nodes.map(
      ({ id }) => id,
    );
  });

  afterAll(async () => {
    await fleet.stop();
    await hub.stop();
    removeDataDir(hub.dataDir);
  });

  it('follows a tool that changes it, with an event and a recorded call of the hub', async () => {
    const [deviceId = ''] = ids;
    await callTool(hub, { deviceId, tool: 'self.audio_speaker.set_volume', arguments: { volume: 33 } });
    const device = await eventually(
      () => stateOf(deviceId),
      ({ reportedState }) => reportedState?.[STATUS]?.audio_speaker?.volume === 33,
      10_000,
    );
    expect(device.reportedStateAt).not.toBeNull();
    const events = await eventually(
      () => eventsOf(hub, deviceId, 'device.state_changed'),
      (found) => JSON.stringify(found).includes('"to":33'),
    );
    expect(events.at(-1)).toMatchObject({ tool: STATUS });
    const query = `query ($id: ID!) { device(id: $id) { calls { nodes { tool actor outcome } } } }`;
    const calls = await eventually(
      async () =>
        (await ask<{ device: { calls: { nodes: { tool: string }[] } } }>(hub, query, { id: deviceId })).device.calls
          .nodes,
      (found) => found.some(({ tool }) => tool === STATUS),
    );
    expect(calls).toContainEqual({ tool: STATUS, actor: 'hub', outcome: 'SUCCEEDED' });
  });

  it('is known of every device after an interval, without a recorded call', async () => {
    const [, deviceId = ''] = ids;
    for (const id of ids)
      await eventually(
        () => stateOf(id),
        ({ reportedState }) => reportedState?.[STATUS] !== undefined,
        25_000,
      );
    const query = `query ($id: ID!) { calls(filter: { deviceId: $id }) { nodes { tool } } }`;
    expect((await ask<{ calls: { nodes: unknown[] } }>(hub, query, { id: deviceId })).calls.nodes).toEqual([]);
  });
});
