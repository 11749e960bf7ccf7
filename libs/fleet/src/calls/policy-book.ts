/** The operator's tool policies, remembered for some seconds so that a call costs no query. */
import type { ToolPolicy } from '@flotilla/jobs';
import { findToolPolicy } from '@flotilla/jobs';
import type { ToolPolicyStore } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';

/** A changed policy holds for new calls and jobs after at most this time. */
const rememberedMs = 5_000;

export class PolicyBook {
  readonly #store: ToolPolicyStore;
  readonly #clock: Clock;
  #policies: Promise<readonly ToolPolicy[]> | undefined;
  #readAt = -Infinity;

  constructor(store: ToolPolicyStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  async policyOf(tool: string): Promise<ToolPolicy> {
    const now = this.#clock.now();
    if (this.#policies === undefined || now - this.#readAt >= rememberedMs) {
      this.#readAt = now;
      this.#policies = this.#store.all();
    }
    try {
      return findToolPolicy(await this.#policies, tool);
    } catch (error) {
      // A failed read is not remembered.
      this.#policies = undefined;
      throw error;
    }
  }
}
