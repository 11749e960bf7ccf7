/** eventAdded: events as they were written, straight from the feed: no query. */
import type { FeedEvent } from '@flotilla/bus';
import type { EventFilter } from '@flotilla/registry';
import { logDropped, type StreamSources } from './device-changes.js';
import { liveStream } from './live-stream.js';
import { SubscriberQueue } from './subscriber-queue.js';

export interface EventAddition {
  /** Good for `events(after:)`: what was missed is after it. */
  readonly cursor: string;
  readonly node: FeedEvent;
}

export function eventAdditions(sources: StreamSources, filter: EventFilter): AsyncGenerator<EventAddition, void, void> {
  return liveStream(async function* (signal) {
    const added = new SubscriberQueue<FeedEvent>(sources.queueMax);
    const unsubscribe = sources.feed.subscribe('event', (event) => {
      if (matches(event, filter)) added.push(event.id, event);
    });
    signal.addEventListener('abort', () => added.close());
    try {
      for (let events = await added.take(1); events; events = await added.take(1)) {
        for (const node of events) yield { cursor: sources.registry.events.cursorOf(node), node };
      }
    } finally {
      unsubscribe();
      logDropped(sources.logger, 'eventAdded', added.droppedCount);
    }
  });
}

function matches(event: FeedEvent, { deviceId, types, since, until }: EventFilter): boolean {
  if (deviceId !== undefined && event.deviceId !== deviceId) return false;
  if (types !== undefined && !types.includes(event.type)) return false;
  return (since === undefined || event.at >= since) && (until === undefined || event.at < until);
}
