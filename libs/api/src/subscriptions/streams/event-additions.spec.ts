import { describe, expect, it } from 'vitest';
import type { EventFeed, FeedEvent } from '@flotilla/bus';
import type { DeviceId } from '@flotilla/mcp';
import type { EventFilter, FleetView } from '@flotilla/registry';
import { eventAdditions, type EventSources } from './event-additions.js';
import { indexFeed } from './feed-index.js';

type Listener = (event: FeedEvent) => void;

/** Delivers at once, and counts its subscribers. */
class DirectFeed implements Pick<EventFeed, 'subscribe'> {
  readonly listeners = new Set<Listener>();

  subscribe(_topic: string, listener: never): () => void {
    this.listeners.add(listener as Listener);
    return () => this.listeners.delete(listener as Listener);
  }

  tell(id: string, deviceId?: string): void {
    const event: FeedEvent = {
      id,
      type: 'device.notification',
      deviceId: deviceId as DeviceId | undefined,
      at: 0,
      data: {},
    };
    for (const listener of this.listeners) listener(event);
  }
}

function open(queueMax = 10) {
  const feed = new DirectFeed();
  const view = { events: { cursorOf: ({ id }: FeedEvent) => `after ${id}` } } as Partial<FleetView> as FleetView;
  const sources: EventSources = { view, queueMax, feed: indexFeed(feed) };
  return { feed, listen: (deviceId?: string) => eventAdditions(sources, deviceId === undefined ? {} : { deviceId }) };
}

describe('additions of events', () => {
  it('reach the listeners of their device, and those of all devices', async () => {
    const { feed, listen } = open();
    const [ofA, ofB, ofAll] = [listen('a'), listen('b'), listen()];
    const told = [ofA, ofB, ofAll].map((stream) => stream.next());
    feed.tell('1', 'a');
    feed.tell('2', 'b');
    const cursors = (await Promise.all(told)).map(({ value }) =>
      value?.events.map((event) => value.additionOf(event).cursor),
    );
    expect(cursors).toEqual([['after 1'], ['after 2'], ['after 1', 'after 2']]);
  });

  it('are of the types that were asked for', async () => {
    const feed = new DirectFeed();
    const view = { events: { cursorOf: ({ id }: FeedEvent) => `after ${id}` } } as Partial<FleetView> as FleetView;
    const sources: EventSources = { view, queueMax: 10, feed: indexFeed(feed) };
    const ofTypes = (filter: EventFilter) => eventAdditions(sources, filter);
    const wanted = ofTypes({ types: ['device.*'] });
    const others = ofTypes({ exceptTypes: ['device.*'] });
    const [first] = [wanted.next(), others.next()];
    feed.tell('1', 'a');
    expect((await first)?.value?.events).toHaveLength(1);
    await Promise.all([wanted.return(undefined), others.return(undefined)]);
  });

  it('cost one subscription of the feed for all listeners, and none without listeners', async () => {
    const { feed, listen } = open();
    for (let cycle = 0; cycle < 300; cycle++) {
      const streams = [listen('a'), listen('a'), listen(`b${cycle}`), listen()];
      const waiting = streams.map((stream) => stream.next());
      expect(feed.listeners.size).toBe(1);
      await Promise.all(streams.map((stream) => stream.return()));
      await Promise.all(waiting);
    }
    expect(feed.listeners.size).toBe(0);
  });

  it('end with a reason, and not with a gap, for who does not read them', async () => {
    const { feed, listen } = open(2);
    const stream = listen('a');
    const first = stream.next();
    feed.tell('1', 'a');
    await first;
    for (const id of ['2', '3', '4']) feed.tell(id, 'a');
    await expect(stream.next()).rejects.toMatchObject({
      code: 'TOO_SLOW',
      message: expect.stringContaining('More than 2 events'),
    });
    expect(feed.listeners.size).toBe(0);
  });
});
