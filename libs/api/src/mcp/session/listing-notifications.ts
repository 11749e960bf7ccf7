/**
 * Notifies agents that their list of tools has changed. Changes within a moment become one
 * notification.
 */
import type { EventFeed } from '@flotilla/bus';
import type { ApiLogger } from '../../api-logger.js';
import type { ListingMode } from './agent-caller.js';
import type { ToolCatalogue } from '../tools/tool-catalogue.js';

interface ListingNotificationsDeps {
  readonly feed: Pick<EventFeed, 'subscribe'>;
  readonly catalogue: Pick<ToolCatalogue, 'fingerprint'>;
  readonly logger: Pick<ApiLogger, 'warn'>;
  /** Ms that changes are gathered. */
  readonly everyMs: number;
}

type Notify = () => Promise<void>;

export class ListingNotifications {
  readonly #listeners = new Set<{ readonly mode: Exclude<ListingMode, 'compact'>; readonly notify: Notify }>();
  readonly #unsubscribes: readonly (() => void)[];
  #timer: NodeJS.Timeout | undefined;
  /** The last fingerprint that was read since the first of these listeners came. */
  #before: { readonly fingerprint: string | undefined } | undefined;

  constructor(private readonly options: ListingNotificationsDeps) {
    // Without a listener the fleet is not read: it is large, and changes often.
    const gather = () => {
      if (this.#listeners.size === 0) return;
      this.#timer ??= setTimeout(() => void this.#notify(), options.everyMs).unref();
    };
    this.#unsubscribes = [options.feed.subscribe('device', gather), options.feed.subscribe('policy', gather)];
  }

  /** Returns what ends it. In the compact mode nothing that is listed ever changes. */
  subscribe(mode: ListingMode, notify: Notify): () => void {
    if (mode === 'compact') return () => undefined;
    // What changed meanwhile is not known, so the first change counts.
    if (this.#listeners.size === 0) this.#before = undefined;
    const listener = { mode, notify };
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const unsubscribe of this.#unsubscribes) unsubscribe();
    this.#listeners.clear();
  }

  async #notify(): Promise<void> {
    this.#timer = undefined;
    const isChanged = await this.#isChanged();
    for (const { mode, notify } of [...this.#listeners]) {
      if (mode === 'auto' && !isChanged) continue;
      // The stream may have ended meanwhile.
      await notify().catch(() => undefined);
    }
  }

  /** A compact listing never changes. While the fleet cannot be read, it counts as changed. */
  async #isChanged(): Promise<boolean> {
    try {
      const fingerprint = await this.options.catalogue.fingerprint();
      const isChanged = this.#before === undefined || this.#before.fingerprint !== fingerprint;
      this.#before = { fingerprint };
      return isChanged;
    } catch (error) {
      this.options.logger.warn({ err: error }, 'could not see whether the listing of tools changed');
      return true;
    }
  }
}
