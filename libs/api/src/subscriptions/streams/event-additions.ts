/** eventAdded: events as they were written, from the feed. Only scoped subscribers cost a query. */
import type { FeedEvent } from '@flotilla/bus';
import { matchesType } from '@flotilla/registry';
import type { EventFilter } from '@flotilla/registry';
import { ApiError } from '../../errors/api-error.js';
import type { StreamSources } from './device-changes.js';
import { EventQueue } from './event-queue.js';
import { liveStream } from './live-stream.js';
import { readPatiently } from './read-patiently.js';

export interface EventAddition {
  /** Good for `events(after:)`: what was missed is after it. */
  readonly cursor: string;
  readonly node: FeedEvent;
}

/** The events of a moment for one subscriber, oldest first; each one is a message. */
export class EventBatch {
  constructor(
    readonly events: readonly FeedEvent[],
    private readonly cursorOf: (event: FeedEvent) => string,
  ) {}

  additionOf(event: FeedEvent): EventAddition {
    return { cursor: this.cursorOf(event), node: event };
  }
}

/** Events of one batch, which share a write, and one query for a scoped subscriber. */
const batchMax = 100;

export type EventSources = Pick<StreamSources, 'view' | 'feed' | 'queueMax'>;

/** Ends with TOO_SLOW where more events wait than are kept. */
export function eventAdditions(sources: EventSources, filter: EventFilter): AsyncGenerator<EventBatch, void, void> {
  const cursorOf = (event: FeedEvent): string => sources.view.events.cursorOf(event);
  return liveStream(async function* (signal) {
    const added = new EventQueue(sources.queueMax);
    const unsubscribe = sources.feed.events.subscribe(
      filter.deviceId === undefined ? undefined : [filter.deviceId],
      (event) => {
        if (matches(event, filter)) added.push(event);
      },
    );
    signal.addEventListener('abort', () => added.close());
    try {
      for (let events = await added.take(batchMax); events; events = await added.take(batchMax)) {
        const seen = await readPatiently(signal, () => visibleEvents(sources, events));
        if (seen.length > 0) yield new EventBatch(seen, cursorOf);
      }
      if (added.isOverrun) throw tooSlow(sources.queueMax);
    } finally {
      unsubscribe();
    }
  });
}

function tooSlow(queueMax: number): ApiError {
  return new ApiError(
    'TOO_SLOW',
    `More than ${queueMax} events were waiting for you, so this subscription ends. ` +
      'Read "events" after the last cursor that you received, and subscribe again.',
  );
}

/**
 * The events of visible devices; those that waited since before a device became visible are
 * dropped.
 */
async function visibleEvents({ view }: EventSources, events: readonly FeedEvent[]): Promise<readonly FeedEvent[]> {
  const starts = await view.events.startsOf?.([...new Set(events.flatMap(({ deviceId }) => deviceId ?? []))]);
  if (starts === undefined) return events;
  return events.filter(({ deviceId, at }) => {
    const since = deviceId === undefined ? undefined : starts.get(deviceId);
    return since !== undefined && (since === Infinity || at >= since);
  });
}

/** Does not check the device: the event was found by it. */
function matches(event: FeedEvent, { types, exceptTypes, since, until }: EventFilter): boolean {
  if (types !== undefined && !matchesType(event.type, types)) return false;
  if (exceptTypes !== undefined && matchesType(event.type, exceptTypes)) return false;
  return (since === undefined || event.at >= since) && (until === undefined || event.at < until);
}
