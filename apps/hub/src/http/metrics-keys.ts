/** Who may read metrics, by key. While keys cannot be looked up, the last answer counts: an outage is when metrics are needed most, and nothing is revoked in it. */
import { createHash } from 'node:crypto';
import type { Principal } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import { withTimeout } from '../with-timeout.js';

export type MetricsAccess = 'granted' | 'refused' | 'forbidden' | 'undecided';

export interface MetricsKeysDeps {
  readonly apiKeys: { authenticate(key: string): Promise<Principal | undefined> };
  readonly clock: Pick<Clock, 'now'>;
}

/** How long a grant outlives the last answer of PostgreSQL, ms: longer than the outages that are watched by these metrics. */
const GRANT_KEPT_MS = 86_400_000;
/** Keys of that many scrapers are remembered. */
const GRANTS_MAX = 16;

export class MetricsKeys {
  /** When a key was last found good, by its hash; the oldest first. */
  readonly #grantedAt = new Map<string, number>();

  constructor(private readonly deps: MetricsKeysDeps) {}

  async accessOf(key: string | undefined): Promise<MetricsAccess> {
    if (key === undefined) return 'refused';
    const hash = createHash('sha256').update(key).digest('base64');
    const answer = await withTimeout(this.#lookUp(key), 'undecided');
    const now = this.deps.clock.now();
    if (answer === 'undecided')
      return now - (this.#grantedAt.get(hash) ?? -Infinity) < GRANT_KEPT_MS ? 'granted' : 'undecided';
    this.#grantedAt.delete(hash);
    if (answer === 'granted') this.#remember(hash, now);
    return answer;
  }

  async #lookUp(key: string): Promise<MetricsAccess> {
    const principal = await this.deps.apiKeys.authenticate(key);
    if (principal === undefined) return 'refused';
    const hasScope = principal.scopes.some((scope) => scope === 'ADMIN' || scope === 'EVENTS_READ');
    return hasScope && principal.devices === undefined ? 'granted' : 'forbidden';
  }

  #remember(hash: string, now: number): void {
    this.#grantedAt.set(hash, now);
    const [oldest] = this.#grantedAt.keys();
    if (this.#grantedAt.size > GRANTS_MAX && oldest !== undefined) this.#grantedAt.delete(oldest);
  }
}
