import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { EventFeed } from '@flotilla/bus';
import type { DeviceId } from '@flotilla/mcp';
import type { DeviceFilter, FleetView } from '@flotilla/registry';
import { silentLogger } from '../../mount/api-stubs.suite.js';
import { openApi, type OpenApi } from '../../mount/mounted-api.suite.js';
import { deviceListChanges, type DeviceListChange } from './device-list-changes.js';
import { indexFeed } from './feed-index.js';

type Listener = (message: { readonly deviceId: DeviceId }) => void;

/** Delivers at once. */
class DirectFeed implements Pick<EventFeed, 'subscribe'> {
  readonly listeners = new Set<Listener>();

  subscribe(_topic: string, listener: never): () => void {
    this.listeners.add(listener as Listener);
    return () => this.listeners.delete(listener as Listener);
  }

  tell(...ids: readonly string[]): void {
    for (const id of ids) for (const listener of this.listeners) listener({ deviceId: id as DeviceId });
  }
}

const feed = new DirectFeed();
const streams: AsyncGenerator<DeviceListChange, void, void>[] = [];
let api: OpenApi;

beforeAll(async () => {
  api = await openApi();
  for (const id of ['a', 'b', 'last']) await api.addDevice(id);
  await tag('last', 'shop', 'mine');
});
afterEach(async () => {
  for (const stream of streams.splice(0)) await stream.return();
});
afterAll(() => api.close());

async function tag(id: string, ...tags: readonly string[]): Promise<void> {
  await api.registry.devices.update(id, { tags });
}

/** The next change of the list behind a filter, as a viewer with this access scope receives it. */
function listen(filter: DeviceFilter | undefined, scope?: DeviceFilter) {
  const view = api.registry.viewFor({ id: 'KEY:spec', devices: scope });
  const stream = deviceListChanges({ view, queueMax: 100, logger: silentLogger([]), feed: indexFeed(feed) }, filter);
  streams.push(stream);
  return async () => {
    const { value } = await stream.next();
    return value ? `${value.device.id} ${value.matches ? 'in' : 'out'}` : undefined;
  };
}

describe('changes of a list of devices', () => {
  it('are devices that come in, change, and leave', async () => {
    const next = listen({ tags: ['shop'] });
    const first = next();
    await tag('a', 'shop');
    feed.tell('a');
    expect(await first).toBe('a in');
    const second = next();
    feed.tell('a');
    expect(await second).toBe('a in');
    const third = next();
    await tag('a');
    feed.tell('a');
    expect(await third).toBe('a out');
  });

  it('report once that a device does not match, however often it changes', async () => {
    const next = listen({ tags: ['shop'] });
    const first = next();
    feed.tell('b');
    expect(await first).toBe('b out');
    const second = next();
    feed.tell('b');
    await new Promise((resolve) => setImmediate(resolve));
    feed.tell('b', 'last');
    expect(await second).toBe('last in');
  });

  it('report a removed device by its id', async () => {
    await api.addDevice('removed');
    await api.registry.enrolments.remove('removed' as DeviceId);
    const next = listen(undefined);
    const first = next();
    feed.tell('removed');
    expect(await first).toBe('removed out');
  });

  it('do not name devices outside of the access scope', async () => {
    const next = listen(undefined, { tags: ['mine'] });
    const first = next();
    feed.tell('b', 'last');
    expect(await first).toBe('last in');
  });

  it('report a device that leaves the access scope, if the subscription has shown it', async () => {
    await tag('a', 'mine');
    const next = listen(undefined, { tags: ['mine'] });
    const first = next();
    feed.tell('a');
    expect(await first).toBe('a in');
    await tag('a');
    const second = next();
    feed.tell('a');
    expect(await second).toBe('a out');
  });

  it('are read together: once for those that match, once for the others', async () => {
    const view = api.registry.viewFor({ id: 'KEY:spec' });
    const read: string[] = [];
    const devices = {
      page: (...args) => (read.push('page'), view.devices.page(...args)),
      findMany: (ids) => (read.push('findMany'), view.devices.findMany(ids)),
    } as Pick<FleetView['devices'], 'page' | 'findMany'> as FleetView['devices'];
    const sources = { view: { ...view, devices }, queueMax: 100, logger: silentLogger([]), feed: indexFeed(feed) };
    const stream = deviceListChanges(sources, { tags: ['shop'] });
    streams.push(stream);
    const first = stream.next();
    feed.tell('a', 'b', 'last');
    expect([await first, await stream.next(), await stream.next()].map(({ value }) => value?.device.id)).toEqual([
      'last',
      'a',
      'b',
    ]);
    expect(read).toEqual(['page', 'findMany']);
  });
});
