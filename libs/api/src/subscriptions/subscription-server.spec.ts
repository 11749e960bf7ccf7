import type { Client } from 'graphql-ws';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { DeviceId } from '@flotilla/mcp';
import type { Job } from '@flotilla/jobs';
import { RegistryError } from '@flotilla/registry';
import { createJob, newJob } from '@flotilla/registry/new-job';
import { adminKey, keyOf, openApi, type OpenApi } from '../mount/mounted-api.suite.js';

let api: OpenApi;
const clients: Client[] = [];

beforeAll(async () => {
  api = await openApi({}, { operationsPerSocketMax: 3, keyCheckMs: 20 });
  await api.addDevice('aa:00');
  await api.addDevice('bb:00');
});

afterAll(() => api.close());
afterEach(() => {
  for (const client of clients.splice(0)) void client.dispose();
});

interface Stream {
  /** The next value's data, or a rejection with its errors or the close event. */
  next(): Promise<unknown>;
  stop(): Promise<unknown>;
}

function open(query: string, key = adminKey, client = connect(key)): Stream {
  const values = client.iterate<Record<string, unknown>>({ query });
  return {
    next: async () => {
      const { value, done } = await values.next();
      if (done) return undefined;
      if (value.errors)
        throw Object.assign(new AggregateError(value.errors), {
          data: value.data,
          codes: value.errors.map(({ extensions }) => extensions?.['code']),
        });
      return value.data;
    },
    stop: async () => values.return?.(),
  };
}

function connect(key: string): Client {
  const client = api.client(key);
  clients.push(client);
  return client;
}

/** Publishes until the stream has a value: there is no sign of when a subscription has begun. */
async function publishUntilSeen(publish: () => void, stream: Stream): Promise<unknown> {
  const timer = setInterval(publish, 20);
  try {
    return await stream.next();
  } finally {
    clearInterval(timer);
  }
}

describe('operations over the socket', () => {
  it('answers queries with the limits and scopes of HTTP', async () => {
    expect(await open('{ device(id: "aa:00") { id presence } }').next()).toEqual({
      device: { id: 'aa:00', presence: 'ONLINE' },
    });
    const costly = open('{ devices(first: 200) { nodes { calls(first: 200) { nodes { id } } } } }').next();
    await expect(costly).rejects.toMatchObject([{ extensions: { code: 'COST_LIMIT' } }]);
    await expect(open('{ devices { nodes { id } } }', keyOf(['JOBS_READ'])).next()).rejects.toMatchObject({
      codes: ['FORBIDDEN'],
    });
    await expect(open('subscription { deviceChanged { id } }', keyOf(['JOBS_READ'])).next()).rejects.toMatchObject({
      codes: ['FORBIDDEN'],
    });
  });

  it('bounds how many are open on one connection', async () => {
    const client = connect(adminKey);
    const streams = [1, 2, 3].map(() => open('subscription { deviceChanged { id } }', adminKey, client));
    const waiting = streams.map((stream) => stream.next());
    await expect(open('{ viewer { name } }', adminKey, client).next()).rejects.toMatchObject([
      { extensions: { code: 'RATE_LIMITED' } },
    ]);
    await Promise.all(streams.map((stream) => stream.stop()));
    await Promise.all(waiting);
  });
});

describe('closing', () => {
  async function closeCode(protocol: string | undefined, ...messages: readonly string[]): Promise<number> {
    const socket = protocol === undefined ? new WebSocket(api.socketUrl) : new WebSocket(api.socketUrl, protocol);
    socket.on('open', () => messages.forEach((message) => socket.send(message)));
    return new Promise((resolve) => socket.once('close', resolve));
  }

  const subscribe = JSON.stringify({ type: 'subscribe', id: '1', payload: { query: '{ viewer { name } }' } });
  const init = (authorization: string): string =>
    JSON.stringify({ type: 'connection_init', payload: { authorization } });

  it.each([
    ['a wrong key', 4403, 'graphql-transport-ws', [init('Bearer wrong')]],
    ['an operation before the key', 4401, 'graphql-transport-ws', [subscribe]],
    ['two keys', 4429, 'graphql-transport-ws', [init(`Bearer ${adminKey}`), init(`Bearer ${adminKey}`)]],
    ['what is no message', 4400, 'graphql-transport-ws', ['nonsense']],
    ['a message over the limit', 1009, 'graphql-transport-ws', ['x'.repeat(1_100_000)]],
    ['no subprotocol', 4406, undefined, []],
  ])('for %s is %i', async (_what, code, protocol, messages) => {
    expect(await closeCode(protocol, ...messages)).toBe(code);
  });

  // Clients take 4500 for final and would not come back.
  it('for a key that cannot be checked now is 1013: try again later', async () => {
    const key = keyOf(['JOBS_READ']);
    api.hide(key);
    expect(await closeCode('graphql-transport-ws', init(`Bearer ${key}`))).toBe(1013);
  });

  it.each([
    ['a bug', new TypeError('key is undefined')],
    ['a refused statement', new RegistryError('DATABASE_REFUSED', 'PostgreSQL refused a statement.')],
  ])('for %s during the check of the key is 4500: the hub failed inside', async (_what, because) => {
    const key = keyOf(['JOBS_READ']);
    api.hide(key, because);
    expect(await closeCode('graphql-transport-ws', init(`Bearer ${key}`))).toBe(4500);
    expect(api.failures).toContainEqual(expect.objectContaining({ err: because }));
  });
});

describe('a key that is revoked', () => {
  it('ends the subscriptions that run with it, and no others', async () => {
    const key = keyOf(['EVENTS_READ']);
    const ended = open('subscription { eventAdded { cursor } }', key).next();
    const goesOn = open('subscription { deviceChanged { id } }');
    api.revoke(key);
    await expect(ended).rejects.toMatchObject({ code: 4403 });
    const publish = (): void => api.feed.publish('device', { deviceId: 'aa:00' as DeviceId });
    expect(await publishUntilSeen(publish, goesOn)).toEqual({ deviceChanged: { id: 'aa:00' } });
    await goesOn.stop();
  });
});

describe('a key that loses a scope', () => {
  it('ends the subscriptions that run with it, so that its client begins them again', async () => {
    const key = keyOf(['EVENTS_READ', 'DEVICES_READ']);
    const stream = open('subscription { deviceChanged { id } }', key);
    await publishUntilSeen(() => api.feed.publish('device', { deviceId: 'aa:00' as DeviceId }), stream);
    api.narrow(key, 'DEVICES_READ');
    await expect(
      (async () => {
        while ((await stream.next()) !== undefined);
      })(),
    ).rejects.toMatchObject({ code: 1013 });
  });
});

describe('deviceChanged', () => {
  it('shows the device as it is now, with its tools, if it matches', async () => {
    const stream = open('subscription { deviceChanged(filter: {search: "aa"}) { id presence tools { name } } }');
    const publish = (): void => {
      api.feed.publish('device', { deviceId: 'bb:00' as DeviceId });
      api.feed.publish('device', { deviceId: 'aa:00' as DeviceId });
    };
    expect(await publishUntilSeen(publish, stream)).toEqual({
      deviceChanged: {
        id: 'aa:00',
        presence: 'ONLINE',
        tools: [{ name: 'self.get_device_status' }, { name: 'hub.alert' }, { name: 'hub.identify' }],
      },
    });
  });
});

describe('eventAdded', () => {
  it('shows the event of the feed, with a cursor from which events() goes on', async () => {
    const stream = open(
      'subscription { eventAdded(filter: {types: ["device.notification"]}) { cursor node { type deviceId data } } }',
    );
    const seen = await publishUntilSeen(() => {
      const row = api.registry.events.append({
        type: 'device.notification',
        deviceId: 'aa:00' as DeviceId,
        at: Date.now(),
        data: { n: 1 },
      });
      api.feed.publish('event', row);
    }, stream);
    expect(seen).toMatchObject({
      eventAdded: { node: { type: 'device.notification', deviceId: 'aa:00', data: { n: 1 } } },
    });
    const { cursor } = (seen as { eventAdded: { cursor: string } }).eventAdded;
    const after = await api.ask('query ($after: String) { events(after: $after) { nodes { id } } }', { after: cursor });
    expect(after.codes).toEqual([]);
  });
});

describe('one event', () => {
  it('is shown to each as each has asked for it', async () => {
    const client = connect(adminKey);
    const asked = ['cursor node { type }', 'cursor node { type }', 'node { deviceId }'];
    const streams = asked.map((fields) =>
      open(`subscription { eventAdded(filter: {types: ["device.notification"]}) { ${fields} } }`, adminKey, client),
    );
    const first = streams.map((stream) => stream.next());
    const publish = (): void => {
      const event = { type: 'device.notification', deviceId: 'aa:00' as DeviceId, at: Date.now(), data: {} } as const;
      api.feed.publish('event', api.registry.events.append(event));
    };
    const timer = setInterval(publish, 20);
    await Promise.all(first);
    clearInterval(timer);
    const [one, same, other] = await Promise.all(first);
    expect(one).toMatchObject({ eventAdded: { cursor: expect.any(String), node: { type: 'device.notification' } } });
    expect(Object.keys((same as { eventAdded: object }).eventAdded)).toEqual(['cursor', 'node']);
    expect(other).toEqual({ eventAdded: { node: { deviceId: 'aa:00' } } });
    await Promise.all(streams.map((stream) => stream.stop()));
  });
});

describe('jobProgress', () => {
  it('says at once that there is no such job', async () => {
    const stream = open('subscription { jobProgress(jobId: "none") { state } }');
    await expect(stream.next()).rejects.toMatchObject({ codes: ['NOT_FOUND'], data: undefined });
  });

  it('shows the job as it is, then as it changes, and completes when it is finished', async () => {
    const job = await makeJob();
    const stream = open(`subscription { jobProgress(jobId: "${job.id}") { state progress { total ratePerMinute } } }`);
    expect(await stream.next()).toMatchObject({ jobProgress: { state: job.state, progress: { total: 0 } } });
    await api.registry.jobCommands.transition(job, { state: 'FINISHED', conclusion: 'CANCELLED' }, Date.now());
    expect(await publishUntilSeen(() => api.feed.publish('job', { jobId: job.id }), stream)).toMatchObject({
      jobProgress: { state: 'FINISHED' },
    });
    expect(await stream.next()).toBeUndefined();
  });

  async function makeJob(): Promise<Job> {
    const now = Date.now();
    const made = await createJob(api.registry.jobCommands, newJob({ createdAt: now, expiresAt: now + 60_000 }));
    if (!('job' in made)) throw new AggregateError([], 'The key of this spec is its own, and it needs no image.');
    return made.job;
  }
});
