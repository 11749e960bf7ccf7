/**
 * One subscription of a topic for all listeners of this process, indexed by the subject of a
 * message: a message costs only its own listeners.
 */
import type { EventFeed, FeedListening, FeedTopic, FeedTopics } from '@flotilla/bus';

/**
 * Ms to gather events: PostgreSQL then has them before subscribers do, and a socket is written at
 * most twenty times a second; a write costs more than an event.
 */
const eventGatherMs = 50;

/** Listens to the feed while anybody listens here. */
class FeedIndex<Topic extends FeedTopic> {
  readonly #byKey = new Map<string, Set<(message: FeedTopics[Topic]) => void>>();
  readonly #ofAll = new Set<(message: FeedTopics[Topic]) => void>();
  #stop: (() => void) | undefined;

  constructor(
    private readonly feed: Pick<EventFeed, 'subscribe'>,
    private readonly topic: Topic,
    private readonly keyOf: (message: FeedTopics[Topic]) => string | undefined,
    private readonly listening: FeedListening = {},
  ) {}

  /**
   * Subscribes to messages with one of these keys, or to all without keys. Returns a function that
   * unsubscribes.
   */
  subscribe(keys: readonly string[] | undefined, take: (message: FeedTopics[Topic]) => void): () => void {
    // A new function, so that the same listener can subscribe twice.
    const own = (message: FeedTopics[Topic]): void => take(message);
    const distinct = keys && [...new Set(keys)];
    if (distinct === undefined) this.#ofAll.add(own);
    for (const key of distinct ?? []) this.#takersOf(key).add(own);
    this.#stop ??= this.feed.subscribe(this.topic, (message) => this.#deliver(message), this.listening);
    return () => {
      this.#ofAll.delete(own);
      for (const key of distinct ?? []) this.#forget(key, own);
      if (this.#ofAll.size > 0 || this.#byKey.size > 0) return;
      this.#stop?.();
      this.#stop = undefined;
    };
  }

  #takersOf(key: string): Set<(message: FeedTopics[Topic]) => void> {
    const takers = this.#byKey.get(key) ?? new Set();
    this.#byKey.set(key, takers);
    return takers;
  }

  #forget(key: string, own: (message: FeedTopics[Topic]) => void): void {
    const takers = this.#byKey.get(key);
    takers?.delete(own);
    if (takers?.size === 0) this.#byKey.delete(key);
  }

  #deliver(message: FeedTopics[Topic]): void {
    for (const take of this.#ofAll) take(message);
    const key = this.keyOf(message);
    const takers = key === undefined ? undefined : this.#byKey.get(key);
    for (const take of takers ?? []) take(message);
  }
}

/** What subscribers listen to, each indexed by what it is about. */
export interface FeedIndexes {
  readonly events: FeedIndex<'event'>;
  readonly devices: FeedIndex<'device'>;
  readonly jobs: FeedIndex<'job'>;
  readonly decided: FeedIndex<'decided'>;
  readonly desiredStates: FeedIndex<'desiredState'>;
}

export function indexFeed(feed: Pick<EventFeed, 'subscribe'>): FeedIndexes {
  return {
    events: new FeedIndex(feed, 'event', ({ deviceId }) => deviceId, { gatherMs: eventGatherMs }),
    devices: new FeedIndex(feed, 'device', ({ deviceId }) => deviceId),
    jobs: new FeedIndex(feed, 'job', ({ jobId }) => jobId),
    desiredStates: new FeedIndex(feed, 'desiredState', ({ id }) => id),
    decided: new FeedIndex(feed, 'decided', ({ jobId }) => jobId),
  };
}
