/**
 * The tools that the hub adds to every xiaozhi device: called like its own, shown on the device,
 * and not part of its tool set.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool, viewDevice } from '../src/devices/device-api.js';
import { ask } from '../src/api/graphql-client.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { finished, jobOf, online } from '../src/jobs/job-api.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';

const DEVICES = 12;

describe('the tools of the hub', () => {
  let hub: HubProcess;
  let fleet: SimulatedFleet;
  let ids: readonly string[];
  let lamp: string;
  let talker: string;

  const idsOf = async (filter: object): Promise<readonly string[]> => {
    const query = 'query ($filter: DeviceFilter) { devices(filter: $filter) { nodes { id } } }';
    return (await ask<{ devices: { nodes: { id: string }[] } }>(hub, query, { filter })).devices.nodes.map(
      ({ id }) => id,
    );
  };

  beforeAll(async () => {
    hub = await startHub();
    fleet = startFleet(hub, { devices: DEVICES, transport: 'mixed' });
    await online(hub, DEVICES);
    ids = await idsOf({ all: true });
    [lamp = ''] = await idsOf({ transport: 'MQTT', hasTool: 'self.lamp.turn_on' });
    [talker = ''] = await idsOf({ transport: 'WEBSOCKET' });
  });

  afterAll(async () => {
    await fleet.stop();
    await hub.stop();
    removeDataDir(hub.dataDir);
  });

  it('shows an alert on a device of either transport before the call succeeds', async () => {
    for (const deviceId of [lamp, talker]) {
      const args = { status: 'Notice', message: `Maintenance "at" 22:00 for ${deviceId} ü`, emotion: 'happy' };
      expect(await callTool(hub, { deviceId, tool: 'hub.alert', arguments: args })).toMatchObject({
        outcome: 'SUCCEEDED',
        error: null,
      });
      expect(await fleet.alerts(deviceId)).toMatchObject([args]);
    }
  });

  it('shows the name that operators gave to the device, and its id', async () => {
    const name = `mutation ($input: UpdateDeviceInput!) { updateDevice(input: $input) { userErrors { message } } }`;
    await ask(hub, name, { input: { deviceId: lamp, name: 'Shelf 7' } });
    expect(await callTool(hub, { deviceId: lamp, tool: 'hub.identify' })).toMatchObject({ outcome: 'SUCCEEDED' });
    expect((await fleet.alerts(lamp)).at(-1)?.message).toBe(`Shelf 7\n${lamp}`);
  });

  it.each([
    ['no message', {}, 'message'],
    ['a message that is too long', { message: 'x'.repeat(501) }, 'message'],
    ['a text of the wrong type', { message: 'a', status: 7 }, 'status'],
    ['an unknown argument', { message: 'a', colour: 'red' }, 'colour'],
  ])('rejects %s before it is sent', async (_what, args, named) => {
    const shown = (await fleet.alerts(lamp)).length;
    const refused = await callTool(hub, { deviceId: lamp, tool: 'hub.alert', arguments: args });
    expect(refused).toMatchObject({ outcome: 'REJECTED', error: { code: 'ARGUMENTS_INVALID' } });
    expect(refused.error?.message).toContain(named);
    expect(await fleet.alerts(lamp)).toHaveLength(shown);
  });

  it('runs as a job in which each device shows its own id', async () => {
    const id = await jobOf(hub, { tool: 'hub.identify', devices: { hasTool: 'hub.identify' } }, 'who-is-who');
    expect(await finished(hub, id)).toMatchObject({
      conclusion: 'SUCCEEDED',
      progress: { total: DEVICES, succeeded: DEVICES },
    });
    for (const deviceId of ids) expect((await fleet.alerts(deviceId)).at(-1)?.message).toContain(deviceId);
  });

  it('is listed with the tools of devices, but not in tool sets and history', async () => {
    const device = await viewDevice(hub, lamp);
    expect(device?.tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['hub.alert', 'hub.identify', 'self.lamp.turn_on']),
    );
    const query = `query ($id: ID!) {
      tools(filter: { search: "hub." }) { nodes { name deviceCount userOnly } }
      toolPolicies { pattern idempotent }
      device(id: $id) { toolSetHistory { added } tools(names: ["hub.alert"]) { policy { pattern } } }
      events(filter: { deviceId: $id, types: ["tools.changed"] }) { nodes { data } }
    }`;
    const answer = await ask<Record<string, unknown>>(hub, query, { id: lamp });
    expect(answer).toMatchObject({
      tools: {
        nodes: [
          { name: 'hub.alert', deviceCount: DEVICES, userOnly: false },
          { name: 'hub.identify', deviceCount: DEVICES, userOnly: false },
        ],
      },
      toolPolicies: expect.arrayContaining([
        { pattern: 'hub.alert', idempotent: true },
        { pattern: 'hub.identify', idempotent: true },
      ]),
      device: { tools: [{ policy: { pattern: 'hub.alert' } }] },
    });
    expect(JSON.stringify([answer['device'], answer['events']])).not.toContain('hub.identify');
  });
});
