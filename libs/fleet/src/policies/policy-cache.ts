/** A cache of the tool policies, so that a call needs no query. A change empties it. */
import type { EventFeed } from '@flotilla/bus';
import type { ToolPolicy } from '@flotilla/jobs';
import { findToolPolicy } from '@flotilla/jobs';
import type { ToolPolicyStore } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';

/** How long an outdated policy applies at most if the notification of a change is lost, ms. */
const rememberedMs = 5_000;

export class PolicyCache {
  readonly #store: Pick<ToolPolicyStore, 'all'>;
  readonly #clock: Clock;
  #policies: Promise<readonly ToolPolicy[]> | undefined;
  #readAt = -Infinity;

  /** Listens for as long as the feed is open. */
  constructor(store: Pick<ToolPolicyStore, 'all'>, clock: Clock, feed: Pick<EventFeed, 'subscribe'>) {
    this.#store = store;
    this.#clock = clock;
    feed.subscribe('policy', () => this.forget());
  }

  forget(): void {
    this.#policies = undefined;
  }

  async policyOf(tool: string): Promise<ToolPolicy> {
    const now = this.#clock.now();
    // It was read later than now if the clock was set back.
    if (this.#policies === undefined || now < this.#readAt || now - this.#readAt >= rememberedMs) {
      this.#readAt = now;
      this.#policies = this.#store.all();
    }
    const policies = this.#policies;
    try {
      return findToolPolicy(await policies, tool);
    } catch (error) {
      // A failed read is not remembered.
      if (this.#policies === policies) this.#policies = undefined;
      throw error;
    }
  }
}
