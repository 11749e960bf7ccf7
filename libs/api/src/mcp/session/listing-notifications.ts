/**
 * Notifies agents that their list of tools has changed. Changes within a moment become one
 * notification.
 */
import type { EventFeed } from '@flotilla/bus';
import type { Scope } from '@flotilla/registry';
import type { ApiLogger } from '../../api-logger.js';
import { openingScopesOf, type AgentCaller, type ListingMode } from './agent-caller.js';
import type { ToolCatalogue } from '../tools/tool-catalogue.js';

interface ListingNotificationsDeps {
  readonly feed: Pick<EventFeed, 'subscribe'>;
  readonly catalogue: Pick<ToolCatalogue, 'fingerprint'>;
  readonly logger: Pick<ApiLogger, 'warn'>;
  /** Ms that changes are gathered. */
  readonly everyMs: number;
}

type Notify = () => Promise<void>;

/** Who has the same listing. */
export interface Audience {
  readonly mode: ListingMode;
  /** Those that open more tools; only in the mode `auto`. */
  readonly scopes: readonly Scope[];
}

export class ListingNotifications {
  readonly #listeners = new Set<{ readonly audience: Audience; readonly notify: Notify }>();
  readonly #unsubscribes: readonly (() => void)[];
  #timer: NodeJS.Timeout | undefined;
  /** Per audience, the last fingerprint that was read since its first listener came. */
  readonly #before = new Map<string, string | undefined>();

  constructor(private readonly options: ListingNotificationsDeps) {
    // Without a listener the fleet is not read: it is large, and changes often.
    const gather = () => {
      if (this.#listeners.size === 0) return;
      this.#timer ??= setTimeout(() => void this.#notify(), options.everyMs).unref();
    };
    this.#unsubscribes = [options.feed.subscribe('device', gather), options.feed.subscribe('policy', gather)];
  }

  /** Returns what ends it. In the compact mode nothing that is listed ever changes. */
  subscribe(audience: Audience, notify: Notify): () => void {
    if (audience.mode === 'compact') return () => undefined;
    // What changed meanwhile is not known, so the first change counts.
    const key = keyOfAudience(audience);
    if (!this.#audiences().has(key)) this.#before.delete(key);
    const listener = { audience, notify };
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const unsubscribe of this.#unsubscribes) unsubscribe();
    this.#listeners.clear();
  }

  #audiences(): ReadonlyMap<string, Audience> {
    return new Map([...this.#listeners].map(({ audience }) => [keyOfAudience(audience), audience]));
  }

  async #notify(): Promise<void> {
    this.#timer = undefined;
    const unchanged = new Set<string>();
    for (const [key, audience] of this.#audiences()) if (!(await this.#isChanged(audience))) unchanged.add(key);
    for (const { audience, notify } of [...this.#listeners]) {
      if (unchanged.has(keyOfAudience(audience))) continue;
      // The stream may have ended meanwhile.
      await notify().catch(() => undefined);
    }
  }

  /** A compact listing never changes. While the fleet cannot be read, it counts as changed. */
  async #isChanged(audience: Audience): Promise<boolean> {
    if (audience.mode === 'full') return true;
    const key = keyOfAudience(audience);
    try {
      const fingerprint = await this.options.catalogue.fingerprint(audience.scopes);
      const isChanged = !this.#before.has(key) || this.#before.get(key) !== fingerprint;
      this.#before.set(key, fingerprint);
      return isChanged;
    } catch (error) {
      this.options.logger.warn({ err: error }, 'could not see whether the listing of tools changed');
      return true;
    }
  }
}

export function keyOfAudience({ mode, scopes }: Audience): string {
  return [mode, ...scopes].join(' ');
}

/**
 * A scoped key may list all its devices even in a large fleet, so it is notified of every change.
 */
export function audienceOf({ viewer, mode }: Pick<AgentCaller, 'viewer' | 'mode'>): Audience {
  if (mode !== 'auto') return { mode, scopes: [] };
  return viewer.devices === undefined ? { mode, scopes: openingScopesOf(viewer) } : { mode: 'full', scopes: [] };
}
