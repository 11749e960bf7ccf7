/**
 * One call end to end: devices connect over MQTT and WebSocket, their tools are listed, and calls
 * get an accurate outcome.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../src/eventually.js';
import { ask, send, subscriptions } from '../src/api/graphql-client.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';

interface DeviceNode {
  readonly id: string;
  readonly model: string;
  readonly presence: string;
  readonly transport: string;
  readonly reachability: string;
  readonly tools: readonly { readonly name: string; readonly userOnly: boolean }[];
}

interface CallAnswer {
  readonly callTool: {
    readonly call: {
      readonly id: string;
      readonly outcome: string;
      readonly result: { readonly text: string; readonly json: unknown } | null;
      readonly error: { readonly code: string; readonly message: string } | null;
    } | null;
    readonly userErrors: readonly {
      readonly code: string;
      readonly message: string;
      readonly path: readonly string[];
    }[];
  };
}

const CALL = `mutation ($input: CallToolInput!) {
  callTool(input: $input) {
    call { id outcome result { text json } error { code message } }
    userErrors { code message path }
  }
}`;

describe('calling a tool', () => {
  let hub: HubProcess;
  let fleet: SimulatedFleet;
  let devices: readonly DeviceNode[];

  const call = async (input: Readonly<Record<string, unknown>>) =>
    (await ask<CallAnswer>(hub, CALL, { input })).callTool;
  const deviceWith = (tool: string, transport = 'MQTT') => {
    const found = devices.find(
      (device) => device.transport === transport && device.tools.some(({ name }) => name === tool),
    );
    if (!found) throw new Error(`no ${transport} device has ${tool}`);
    return found.id;
  };

  beforeAll(async () => {
    hub = await startHub();
    fleet = startFleet(hub, { devices: 12, transport: 'mixed' });
    const query = `{ devices(first: 50, filter: { presence: ONLINE }) {
      nodes { id model presence transport reachability tools { name userOnly } }
    } }`;
    devices = await eventually(
      async () => (await ask<{ devices: { nodes: DeviceNode[] } }>(hub, query)).devices.nodes,
      (nodes) => nodes.length === 12,
    );
  });

  afterAll(async () => {
    await fleet.stop();
    expect(await hub.stop()).toBe(0);
    removeDataDir(hub.dataDir);
  });

  it('finds the devices of both transports with their tools, including user-only ones', () => {
    expect(new Set(devices.map((device) => device.transport))).toEqual(new Set(['MQTT', 'WEBSOCKET']));
    for (const device of devices) {
      expect(device.presence).toBe('ONLINE');
      expect(device.model).toBeTruthy();
      expect(device.reachability).toBe(device.transport === 'MQTT' ? 'ALWAYS' : 'IN_CONVERSATION');
      expect(device.tools.map((tool) => tool.name)).toContain('self.get_device_status');
    }
    expect(devices.some((device) => device.tools.some((tool) => tool.userOnly && tool.name === 'self.reboot'))).toBe(
      true,
    );
  });

  it.each(['MQTT', 'WEBSOCKET'])('sets the volume of a device on %s and reads it back', async (transport) => {
    const deviceId = deviceWith('self.audio_speaker.set_volume', transport);
    const set = await call({ deviceId, tool: 'self.audio_speaker.set_volume', arguments: { volume: 37 } });
    expect(set).toMatchObject({
      call: { outcome: 'SUCCEEDED', result: { text: 'true' }, error: null },
      userErrors: [],
    });
    const status = await call({ deviceId, tool: 'self.get_device_status' });
    expect(status.call?.result?.json).toMatchObject({ audio_speaker: { volume: 37 } });
  });

  it('records each call before it is answered', async () => {
    const deviceId = deviceWith('self.audio_speaker.set_volume');
    const { call: made } = await call({ deviceId, tool: 'self.audio_speaker.set_volume', arguments: { volume: 12 } });
    const { call: read } = await ask<{ call: unknown }>(
      hub,
      'query ($id: ID!) { call(id: $id) { deviceId tool arguments outcome jobId } }',
      { id: made?.id },
    );
    expect(read).toEqual({
      deviceId,
      tool: 'self.audio_speaker.set_volume',
      arguments: { volume: 12 },
      outcome: 'SUCCEEDED',
      jobId: null,
    });
  });

  it.each([
    ['out of range', { volume: 101 }, 'volume'],
    ['of the wrong type', { volume: '37' }, 'volume'],
    ['missing', {}, 'volume'],
    ['of an unknown name', { volume: 5, loudness: 5 }, 'loudness'],
    ['of a name that differs only in case', { Volume: 5 }, 'Volume'],
  ])('rejects an argument %s before it is sent, by name', async (_what, args, name) => {
    const deviceId = deviceWith('self.audio_speaker.set_volume');
    const before = (await fleet.counts()).devices[deviceId]?.['self.audio_speaker.set_volume'] ?? 0;
    const refused = await call({ deviceId, tool: 'self.audio_speaker.set_volume', arguments: args });
    expect(refused.call).toMatchObject({ outcome: 'REJECTED', error: { code: 'ARGUMENTS_INVALID' } });
    expect(refused.userErrors).toMatchObject([{ code: 'ARGUMENTS_INVALID' }]);
    expect(refused.call?.error?.message).toContain(name);
    expect((await fleet.counts()).devices[deviceId]?.['self.audio_speaker.set_volume'] ?? 0).toBe(before);
  });

  it('reports an unknown tool and an unknown device', async () => {
    const deviceId = deviceWith('self.get_device_status');
    expect(await call({ deviceId, tool: 'self.nope' })).toMatchObject({
      call: { outcome: 'REJECTED', error: { code: 'TOOL_UNKNOWN' } },
      userErrors: [{ code: 'TOOL_UNKNOWN' }],
    });
    expect(await call({ deviceId: '02:ff:ff:ff:ff:ff', tool: 'self.nope' })).toMatchObject({
      call: null,
      userErrors: [{ code: 'NOT_FOUND' }],
    });
  });

  it('ends a call to a silent device as unknown, never as failed', async () => {
    const deviceId = deviceWith('self.get_device_status');
    fleet.command({
      cmd: 'behaviour',
      device: deviceId,
      behaviour: { kind: 'silent', tool: 'self.get_device_status' },
    });
    expect(await call({ deviceId, tool: 'self.get_device_status', timeoutMs: 1_000 })).toMatchObject({
      call: { outcome: 'UNKNOWN', error: { code: 'TIMEOUT' } },
    });
  });

  it('runs a call with an idempotency key once, however often it is sent', async () => {
    const deviceId = deviceWith('self.lamp.turn_on');
    const input = { deviceId, tool: 'self.lamp.turn_on', idempotencyKey: 'lamp-1' };
    const before = (await fleet.counts()).devices[deviceId]?.['self.lamp.turn_on'] ?? 0;
    const first = await call(input);
    const second = await call(input);
    expect(second.call?.id).toBe(first.call?.id);
    expect((await fleet.counts()).devices[deviceId]?.['self.lamp.turn_on']).toBe(before + 1);
    expect(await call({ ...input, tool: 'self.lamp.turn_off' })).toMatchObject({
      call: null,
      userErrors: [{ code: 'IDEMPOTENCY_KEY_REUSED' }],
    });
  });

  it('notifies subscribers of a device that disconnects', async () => {
    const client = subscriptions(hub);
    const deviceId = deviceWith('self.get_device_status');
    const seen: { readonly node: { readonly type: string } }[] = [];
    const events = client.iterate<{ eventAdded: (typeof seen)[number] }>({
      query: 'subscription ($id: ID!) { eventAdded(filter: { deviceId: $id }) { node { type data } } }',
      variables: { id: deviceId },
    });
    const reading = (async () => {
      for await (const { data } of events) if (data) seen.push(data.eventAdded);
    })();
    // The device disconnects repeatedly until the subscription is known to be open.
    await eventually(
      () => {
        fleet.command({ cmd: 'disconnect', device: deviceId });
        fleet.command({ cmd: 'connect', device: deviceId });
        return seen.map(({ node }) => node.type);
      },
      (types) => types.includes('device.disconnected') && types.includes('device.connected'),
    );
    await events.return?.();
    await reading;
    await client.dispose();
  });

  it('admits no request without a valid key', async () => {
    for (const key of [null, 'wrong', `${hub.adminKey}x`]) {
      const answer = await send(hub, '{ viewer { name } }', {}, key);
      expect(answer.data ?? null).toBeNull();
      expect(answer.errors?.[0]?.extensions?.code).toBe('UNAUTHENTICATED');
    }
  });
});
