/**
 * Checks keys for metrics. While PostgreSQL does not answer, the last result counts, because
 * metrics are needed most during an outage.
 */
import { createHash } from 'node:crypto';
import type { Principal } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import { LRUCache } from 'lru-cache';
import { answerOr } from '../answer-or.js';

export type MetricsAccess = 'granted' | 'refused' | 'forbidden' | 'undecided';

interface MetricsKeysDeps {
  readonly apiKeys: { authenticate(key: string): Promise<Principal | undefined> };
  readonly clock: Pick<Clock, 'now'>;
}

/** Time that a grant stays valid without PostgreSQL, ms: longer than usual outages. */
const GRANT_KEPT_MS = 86_400_000;
/** The number of keys whose grants are kept. */
const GRANTS_MAX = 16;

export class MetricsKeys {
  /** Time of the last grant by hash of the key. */
  readonly #grantedAt = new LRUCache<string, number>({ max: GRANTS_MAX });

  constructor(private readonly deps: MetricsKeysDeps) {}

  async accessOf(key: string | undefined): Promise<MetricsAccess> {
    if (key === undefined) return 'refused';
    const hash = createHash('sha256').update(key).digest('base64');
    const answer = await answerOr(this.#lookUp(key), 'undecided');
    const now = this.deps.clock.now();
    if (answer === 'undecided')
      return now - (this.#grantedAt.get(hash) ?? -Infinity) < GRANT_KEPT_MS ? 'granted' : 'undecided';
    if (answer === 'granted') this.#grantedAt.set(hash, now);
    else this.#grantedAt.delete(hash);
    return answer;
  }

  async #lookUp(key: string): Promise<MetricsAccess> {
    const principal = await this.deps.apiKeys.authenticate(key);
    if (principal === undefined) return 'refused';
    const hasScope = principal.scopes.some((scope) => scope === 'ADMIN' || scope === 'EVENTS_READ');
    return hasScope && principal.devices === undefined ? 'granted' : 'forbidden';
  }
}
