/** One subscription of the feed for all who listen to events here, found by device: an event costs as much as the listeners that it is for. */
import type { EventFeed, FeedEvent } from '@flotilla/bus';

type Take = (event: FeedEvent) => void;

/** Listens to the feed while anybody listens here. */
export class EventTopics {
  readonly #feed: Pick<EventFeed, 'subscribe'>;
  readonly #ofDevice = new Map<string, Set<Take>>();
  readonly #ofAll = new Set<Take>();
  #stop: (() => void) | undefined;

  constructor(feed: Pick<EventFeed, 'subscribe'>) {
    this.#feed = feed;
  }

  /** Without a device: every event. The answer ends it. */
  subscribe(deviceId: string | undefined, take: Take): () => void {
    const takers = deviceId === undefined ? this.#ofAll : (this.#ofDevice.get(deviceId) ?? new Set());
    if (deviceId !== undefined) this.#ofDevice.set(deviceId, takers);
    // A listener of its own, so that the same function may listen twice.
    const own: Take = (event) => take(event);
    takers.add(own);
    this.#stop ??= this.#feed.subscribe('event', (event) => this.#tell(event));
    return () => {
      takers.delete(own);
      if (deviceId !== undefined && takers.size === 0 && this.#ofDevice.get(deviceId) === takers) this.#ofDevice.delete(deviceId);
      if (this.#ofAll.size > 0 || this.#ofDevice.size > 0) return;
      this.#stop?.();
      this.#stop = undefined;
    };
  }

  #tell(event: FeedEvent): void {
    for (const take of this.#ofAll) take(event);
    const takers = event.deviceId === undefined ? undefined : this.#ofDevice.get(event.deviceId);
    for (const take of takers ?? []) take(event);
  }
}
