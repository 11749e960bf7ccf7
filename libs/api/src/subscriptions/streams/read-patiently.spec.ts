import { describe, expect, it } from 'vitest';
import type { FeedTopics } from '@flotilla/bus';
import type { DeviceId, JobId } from '@flotilla/mcp';
import { RegistryError, type FleetView } from '@flotilla/registry';
import { silentLogger } from '../../mount/api-stubs.suite.js';
import { alertChanges } from './alert-changes.js';
import { decidedTargets } from './decided-targets.js';
import { desiredStateChanges, jobChanges } from './record-changes.js';
import { deviceChanges } from './device-changes.js';
import { deviceListChanges } from './device-list-changes.js';
import { eventAdditions } from './event-additions.js';
import { indexFeed } from './feed-index.js';
import { readPatiently } from './read-patiently.js';

const away = new RegistryError('DATABASE_UNAVAILABLE', 'PostgreSQL is away.');
const refused = new RegistryError('DATABASE_REFUSED', 'PostgreSQL refused a statement.');

/** A registry whose first read of each kind fails, and a feed. */
function open(error: Error) {
  const listeners = new Map<string, (message: never) => void>();
  const failed = new Set<string>();
  const read =
    <Value>(kind: string, value: Value) =>
    async (): Promise<Value> => {
      if (failed.has(kind)) return value;
      failed.add(kind);
      throw error;
    };
  const view = {
    jobs: {
      find: read('job', { id: 'j', state: 'FINISHED' }),
      targets: read('targets', [{ rows: [{ deviceId: 'd', state: 'DECIDED' }] }]),
    },
    desiredStates: { find: read('desiredState', { id: 's' }) },
    devices: { page: read('devices', { rows: [{ id: 'd' }] }) },
    events: { startsOf: read('starts', new Map([['d', Infinity]])), cursorOf: () => 'c' },
  } as unknown as FleetView;
  const alerts = { page: read('alerts', { rows: [{ id: 'a' }] }) } as unknown as Parameters<
    typeof alertChanges
  >[0]['alerts'];
  const feed = indexFeed({
    subscribe: (topic: string, listener: (message: never) => void) => {
      listeners.set(topic, listener);
      return () => listeners.delete(topic);
    },
  });
  const publish = <Topic extends keyof FeedTopics>(topic: Topic, message: FeedTopics[Topic]): void =>
    listeners.get(topic)?.(message as never);
  return { sources: { view, alerts, feed, logger: silentLogger([]), queueMax: 10 }, publish };
}

type Opened = ReturnType<typeof open>;

const event = { id: 'e', type: 'alert.fired', deviceId: 'd' as DeviceId, at: 0, data: { alertId: 'a' } };
const streams: readonly (readonly [string, (opened: Opened) => AsyncGenerator<unknown>, unknown])[] = [
  ['jobProgress', ({ sources }) => jobChanges(sources, 'j'), { state: 'FINISHED' }],
  ['desiredStateChanged', ({ sources }) => desiredStateChanges(sources, 's'), { id: 's' }],
  ['deviceChanged', ({ sources }) => deviceChanges(sources, undefined), { id: 'd' }],
  ['deviceListChanged', ({ sources }) => deviceListChanges(sources, undefined), { matches: true }],
  ['alertChanged', ({ sources }) => alertChanges(sources, {}), { id: 'a' }],
  ['eventAdded', ({ sources }) => eventAdditions(sources, {}), { events: [{ id: 'e' }] }],
  [
    'jobTargetsDecided',
    ({ sources }) => decidedTargets(sources, { id: 'j' as JobId, firmwareImageId: undefined }),
    [{ deviceId: 'd' }],
  ],
];

/** The first value after something happened to everything. */
function firstOf(opened: Opened, stream: AsyncGenerator<unknown>): Promise<IteratorResult<unknown>> {
  const first = stream.next();
  opened.publish('device', { deviceId: 'd' as DeviceId });
  opened.publish('event', event);
  opened.publish('decided', { jobId: 'j' as JobId, deviceIds: ['d' as DeviceId] });
  return first;
}

describe.concurrent.each(streams)('%s', (_name, subscribe, value) => {
  it('sends what changed while PostgreSQL was away, once it answers', async () => {
    const opened = open(away);
    const stream = subscribe(opened);
    expect((await firstOf(opened, stream)).value).toMatchObject(value as object);
    await stream.return(undefined);
  });

  it('ends with each other error', async () => {
    const opened = open(refused);
    await expect(firstOf(opened, subscribe(opened))).rejects.toBe(refused);
  });

  it('ends without an error for who leaves meanwhile', async () => {
    const opened = open(away);
    const stream = subscribe(opened);
    const first = firstOf(opened, stream);
    await new Promise(setImmediate);
    await stream.return(undefined);
    expect(await first).toEqual({ done: true, value: undefined });
  });
});

describe('a patient read', () => {
  it('ends when its reader leaves', async () => {
    const leaving = new AbortController();
    const reading = readPatiently(leaving.signal, () => Promise.reject(away));
    await new Promise(setImmediate);
    leaving.abort();
    await expect(reading).rejects.toBe(away);
  });
});
