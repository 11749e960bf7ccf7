/**
 * Subscriptions on a running hub: authentication, the changes that they send, and that slow or many
 * subscribers do not disturb the hub.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { eventually } from '../src/eventually.js';
import { ask, send, subscriptions } from '../src/api/graphql-client.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { finished, jobOf, online } from '../src/jobs/job-api.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';

let hub: HubProcess;
let fleet: SimulatedFleet;
let deviceId: string;
let otherId: string;

beforeAll(async () => {
  hub = await startHub();
  fleet = startFleet(hub, { devices: 20 });
  await online(hub, 20);
  const { devices } = await ask<{ devices: { nodes: { id: string }[] } }>(
    hub,
    '{ devices(first: 2) { nodes { id } } }',
  );
  deviceId = devices.nodes[0]?.id ?? '';
  otherId = devices.nodes[1]?.id ?? '';
});

afterAll(async () => {
  await fleet.stop();
  expect(await hub.stop()).toBe(0);
  removeDataDir(hub.dataDir);
});

const init = (key: string | undefined) =>
  JSON.stringify({ type: 'connection_init', payload: key === undefined ? {} : { authorization: `Bearer ${key}` } });
const subscribe = (query: string) => JSON.stringify({ type: 'subscribe', id: '1', payload: { query } });

function openSocket(...messages: readonly string[]): WebSocket {
  const socket = new WebSocket(`${hub.httpUrl.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  socket.on('open', () => messages.forEach((message) => socket.send(message)));
  return socket;
}

/** Values of a subscription as they come. */
function listen(query: string): { readonly seen: Record<string, unknown>[]; stop(): Promise<void> } {
  const client = subscriptions(hub);
  const seen: Record<string, unknown>[] = [];
  const values = client.iterate<Record<string, unknown>>({ query });
  const reading = (async () => {
    for await (const { data } of values) if (data) seen.push(data);
  })();
  const stop = async () => {
    await values.return?.();
    await reading;
    await client.dispose();
  };
  return { seen, stop };
}

async function rename(id: string, name: string): Promise<void> {
  await ask(hub, 'mutation ($input: UpdateDeviceInput!) { updateDevice(input: $input) { userErrors { code } } }', {
    input: { deviceId: id, name },
  });
}

describe('the door', () => {
  it.each<[string, number, () => readonly string[]]>([
    ['no key', 4403, () => [init(undefined)]],
    ['a wrong key', 4403, () => [init(`${hub.adminKey}x`)]],
    ['an operation before the key', 4401, () => [subscribe('{ viewer { name } }')]],
    ['what is no message', 4400, () => ['{']],
    ['the key twice', 4429, () => [init(hub.adminKey), init(hub.adminKey)]],
    ['a message over 1 MiB', 1009, () => ['x'.repeat(1_100_000)]],
  ])('%s closes with %i', async (_what, code, messages) => {
    const socket = openSocket(...messages());
    expect(await new Promise((resolve) => socket.once('close', resolve))).toBe(code);
  });

  it('an id that is in use closes with 4409', async () => {
    const socket = openSocket(init(hub.adminKey));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await new Promise((resolve) => socket.once('message', resolve));
    const live = subscribe('subscription { deviceChanged { id } }');
    socket.send(live);
    socket.send(live);
    expect(await closed).toBe(4409);
  });

  it('one subscription more than 50 is refused, and the 50 go on', async () => {
    const socket = openSocket(init(hub.adminKey));
    const seen: { type: string; id?: string; payload?: unknown }[] = [];
    socket.on('message', (data: Buffer) => seen.push(JSON.parse(data.toString()) as (typeof seen)[number]));
    await new Promise((resolve) => socket.once('message', resolve));
    const query = `subscription { deviceChanged(filter: {ids: ["${deviceId}"]}) { id } }`;
    for (let id = 1; id <= 51; id++)
      socket.send(JSON.stringify({ type: 'subscribe', id: String(id), payload: { query } }));
    await eventually(
      async () => {
        await rename(deviceId, `fifty ${Date.now()}`);
        return new Set(seen.filter(({ type }) => type === 'next').map(({ id }) => id)).size;
      },
      (count) => count === 50,
    );
    const refused = seen.filter(({ type }) => type === 'error');
    expect(refused).toMatchObject([
      { payload: [{ extensions: { code: 'RATE_LIMITED' }, message: expect.stringContaining('At most 50') }] },
    ]);
    expect(socket.readyState).toBe(WebSocket.OPEN);
    socket.terminate();
  });

  it('a client that says nothing is sent away', async () => {
    const socket = openSocket();
    expect(await new Promise((resolve) => socket.once('close', resolve))).toBe(4408);
  });
});

describe('deviceChanged', () => {
  it('sends a device while it matches after a change, and its leaving only if the filter still matches', async () => {
    const matching = listen('subscription { deviceChanged(filter: {search: "watched"}) { id name } }');
    const byId = listen(`subscription { deviceChanged(filter: {ids: ["${deviceId}"]}) { id name } }`);
    const names = ({ seen }: typeof matching) => seen.map((data) => (data['deviceChanged'] as { name: string }).name);
    let count = 0;
    // A subscription has begun when its first change arrives; until then there is no sign of it.
    await eventually(
      async () => {
        await rename(deviceId, `watched ${++count}`);
        return [names(matching).length, names(byId).length];
      },
      (lengths) => lengths.every((length) => length > 0),
    );
    await rename(otherId, 'another name');
    await rename(deviceId, 'gone');
    await eventually(
      () => names(byId),
      (seen) => seen.includes('gone'),
    );
    await rename(deviceId, 'watched again');
    await eventually(
      () => names(matching),
      (seen) => seen.includes('watched again'),
    );
    expect(names(matching)).not.toContain('gone');
    expect(names(byId)).not.toContain('another name');
    await Promise.all([matching.stop(), byId.stop()]);
  });

  it('sends tags that many devices get at once', async () => {
    const all = listen('subscription { deviceChanged { id tags } }');
    const told = () =>
      new Set(
        all.seen
          .map((data) => data['deviceChanged'] as { id: string; tags: string[] })
          .flatMap(({ id, tags }) => (tags.includes('many') ? [id] : [])),
      );
    const tag = (change: string) =>
      ask(hub, `mutation { tagDevices(input: {filter: {all: true}, ${change}}) { changedCount } }`);
    await eventually(
      async () => {
        await tag('remove: ["many"]');
        await tag('add: ["many"]');
        return told().size;
      },
      (count) => count === 20,
    );
    await all.stop();
  });
});

describe('jobTargetsDecided', () => {
  /** The values of each target in order, until the job has finished. */
  async function follow(jobId: string): Promise<ReadonlyMap<string, readonly string[]>> {
    const client = subscriptions(hub);
    const told = new Map<string, string[]>();
    const query = `subscription { jobTargetsDecided(jobId: "${jobId}") { deviceId outcome error { code } } }`;
    for await (const { data } of client.iterate<{
      jobTargetsDecided: { deviceId: string; outcome: string; error?: { code: string } }[];
    }>({
      query,
    }))
      for (const { deviceId: id, outcome, error } of data?.jobTargetsDecided ?? [])
        told.set(id, [...(told.get(id) ?? []), error ? `${outcome} ${error.code}` : outcome]);
    await client.dispose();
    return told;
  }

  async function deviceIds(): Promise<readonly string[]> {
    const { devices } = await ask<{ devices: { nodes: { id: string }[] } }>(
      hub,
      '{ devices(first: 50) { nodes { id } } }',
    );
    return devices.nodes.map(({ id }) => id);
  }

  it('begins with those that were refused beforehand, whether the job is yet to be prepared or over', async () => {
    const order = { tool: 'self.no_such_tool', devices: { ids: [deviceId, otherId] } };
    const refusals = new Map([deviceId, otherId].map((id) => [id, ['REJECTED TOOL_UNKNOWN']]));
    const startAt = new Date(Date.now() + 1_500).toISOString();
    expect(await follow(await jobOf(hub, { ...order, startAt }, 'refused-later'))).toEqual(refusals);
    const over = await jobOf(hub, order, 'refused-at-once');
    await finished(hub, over);
    expect(await follow(over)).toEqual(refusals);
  });

  it('sends a target again if a late answer corrects its outcome UNKNOWN', async () => {
    const known = new Set(await deviceIds());
    const slow = startFleet(hub, { devices: 4, seed: 78, args: ['--answer-delay-ms', '1300'] });
    await online(hub, 24);
    const ids = (await deviceIds()).filter((id) => !known.has(id));
    const order = {
      tool: 'self.get_device_status',
      devices: { ids },
      callTimeoutMs: 1_000,
      maxInFlight: 1,
      maxAttempts: 1,
    };
    const told = await follow(await jobOf(hub, order, 'late-answers'));
    expect(told.size).toBe(4);
    expect([...told.values()]).toContainEqual(['UNKNOWN TIMEOUT', 'SUCCEEDED']);
    await slow.stop();
  });
});

describe('many and slow subscribers', () => {
  it('a hundred receive the same event', async () => {
    const listeners = Array.from({ length: 100 }, () =>
      listen(
        `subscription { eventAdded(filter: {deviceId: "${deviceId}", types: ["device.notification"]}) {
          cursor node { id } } }`,
      ),
    );
    await eventually(
      () => {
        fleet.command({
          cmd: 'behaviour',
          device: deviceId,
          behaviour: { kind: 'notification', method: 'notifications/spec' },
        });
        return listeners.filter(({ seen }) => seen.length > 0).length;
      },
      (count) => count === 100,
    );
    await Promise.all(listeners.map(({ stop }) => stop()));
  });

  it('one that does not read delays no other', async () => {
    const socket = openSocket(init(hub.adminKey));
    await new Promise((resolve) => socket.once('message', resolve));
    socket.send(subscribe('subscription { deviceChanged { id name tags tools { name description inputSchema } } }'));
    socket.pause();
    const other = listen(`subscription { deviceChanged(filter: {ids: ["${deviceId}"]}) { name } }`);
    for (let round = 0; round < 30; round++)
      await ask(hub, `mutation { tagDevices(input: {filter: {all: true}, add: ["round-${round}"]}) { changedCount } }`);
    await eventually(
      async () => {
        await rename(deviceId, `round ${Date.now()}`);
        return other.seen.length;
      },
      (count) => count > 0,
    );
    expect(await send(hub, '{ viewer { name } }')).toMatchObject({ data: { viewer: { name: 'admin' } } });
    await other.stop();
    socket.terminate();
  });
});

describe('a hub that stops', () => {
  it('reports it to its subscribers', async () => {
    const second = await startHub();
    const socket = new WebSocket(`${second.httpUrl.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    socket.on('open', () => socket.send(init(second.adminKey)));
    await new Promise((resolve) => socket.once('message', resolve));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    expect(await second.stop()).toBe(0);
    expect(await closed).toBe(1001);
    removeDataDir(second.dataDir);
  });
});
