/**
 * Remembers for seconds who presents which secret. PostgreSQL has the SHA-256 of secrets.
 * Unknown secrets are remembered apart and looked up at a bounded rate, so that guesses neither
 * displace valid secrets nor keep PostgreSQL busy.
 */
import { LRUCache } from 'lru-cache';
import { PacedLookups } from './paced-lookups.js';
import { hashOf } from './secrets.js';

/** If the notification of another process is lost, a revoked secret works this much longer. */
const REMEMBERED_MS = 5_000;
/** At least as many as there can be API keys. */
const REMEMBERED_MAX = 1_000;
const UNKNOWN_MAX = 10_000;

interface Holder<Principal> {
  readonly principal: Principal;
  /** When the secret stops being valid by itself, ms since the Unix epoch. */
  readonly endsAt: number;
}

export class SecretCache<Row, Principal> {
  readonly #known = new LRUCache<string, { readonly principal: Principal; readonly until: number }>({
    max: REMEMBERED_MAX,
  });
  /** Until when each secret is not looked up again. */
  readonly #unknown = new LRUCache<string, number>({ max: UNKNOWN_MAX });
  readonly #lookups: PacedLookups<Row>;
  /** Grows with each `clear`: answers to earlier lookups are not stored after it. */
  #generation = 0;

  /** `find` looks up rows by the hashes of secrets. */
  constructor(private readonly find: (hashes: readonly string[]) => Promise<ReadonlyMap<string, Row>>) {
    this.#lookups = new PacedLookups(find);
  }

  /** `holderOf` says whose secret a row is; undefined: it is no longer valid. */
  async authenticate(
    secret: string,
    holderOf: (row: Row, now: number) => Holder<Principal> | undefined,
  ): Promise<Principal | undefined> {
    const hash = hashOf(secret);
    const now = Date.now();
    const known = this.#known.get(hash);
    if (known !== undefined && now < known.until) return known.principal;
    if (now < (this.#unknown.get(hash) ?? 0)) return undefined;
    const generation = this.#generation;
    // A secret that was valid a moment ago never waits behind guesses.
    const row = known === undefined ? await this.#lookups.ask(hash) : (await this.find([hash])).get(hash);
    const holder = row === undefined ? undefined : holderOf(row, now);
    if (generation === this.#generation) this.#store(hash, holder);
    return holder?.principal;
  }

  /** Forgets all secrets: some changed, and the others are looked up again cheaply. */
  clear(): void {
    this.#generation += 1;
    this.#known.clear();
    this.#unknown.clear();
  }

  #store(hash: string, holder: Holder<Principal> | undefined): void {
    const until = Date.now() + REMEMBERED_MS;
    if (holder === undefined) {
      this.#known.delete(hash);
      this.#unknown.set(hash, until);
    } else {
      this.#known.set(hash, { principal: holder.principal, until: Math.min(until, holder.endsAt) });
    }
  }
}
