/** eventAdded: events as they were written, straight from the feed: no query, but for a narrowed subscriber's. */
import type { FeedEvent } from '@flotilla/bus';
import type { EventFilter } from '@flotilla/registry';
import { ApiError } from '../errors/api-error.js';
import type { StreamSources } from './device-changes.js';
import { liveStream } from './live-stream.js';
import { SubscriberQueue } from './subscriber-queue.js';

export class EventAddition {
  constructor(
    /** Good for `events(after:)`: what was missed is after it. */
    readonly cursor: string,
    readonly node: FeedEvent,
  ) {}
}

/** Events looked at with one statement, for a narrowed subscriber. */
const readMax = 100;

export interface EventSources extends Pick<StreamSources, 'view' | 'feed' | 'queueMax'> {
  /** Whether `view` is less than everything: then it is asked about the device of each event. */
  readonly isNarrowed: boolean;
}

/** Ends with TOO_SLOW where more events wait than are kept: one that is left out would be taken for one that never was. */
export function eventAdditions(sources: EventSources, filter: EventFilter): AsyncGenerator<EventAddition, void, void> {
  return liveStream(async function* (signal) {
    const added = new SubscriberQueue<FeedEvent>(sources.queueMax);
    const unsubscribe = sources.feed.events.subscribe(filter.deviceId === undefined ? undefined : [filter.deviceId], (event) => {
      if (matches(event, filter)) added.push(event.id, event);
      if (added.droppedCount > 0) added.close();
    });
    signal.addEventListener('abort', () => added.close());
    const takeMax = sources.isNarrowed ? readMax : 1;
    try {
      for (let events = await added.take(takeMax); events; events = await added.take(takeMax)) {
        for (const node of await seenOf(sources, events)) yield new EventAddition(sources.view.events.cursorOf(node), node);
      }
      if (added.droppedCount > 0) throw tooSlow(sources.queueMax);
    } finally {
      unsubscribe();
    }
  });
}

function tooSlow(queueMax: number): ApiError {
  return new ApiError(
    'TOO_SLOW',
    `More than ${queueMax} events were waiting for you, so this subscription ends: read "events" after the last cursor that you have seen, and subscribe again.`,
  );
}

/** What is about no device is nobody's who is narrowed. */
async function seenOf({ isNarrowed, view }: EventSources, events: readonly FeedEvent[]): Promise<readonly FeedEvent[]> {
  if (!isNarrowed) return events;
  const ids = [...new Set(events.flatMap(({ deviceId }) => deviceId ?? []))];
  const seen = new Set((await view.devices.findMany(ids)).flatMap((device) => device?.id ?? []));
  return events.filter(({ deviceId }) => deviceId !== undefined && seen.has(deviceId));
}

/** But for the device, by which it was found. */
function matches(event: FeedEvent, { types, since, until }: EventFilter): boolean {
  if (types !== undefined && !types.includes(event.type)) return false;
  return (since === undefined || event.at >= since) && (until === undefined || event.at < until);
}
