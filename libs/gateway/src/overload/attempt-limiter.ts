/**
 * A rate limit per remote address for attempts that failed or came from unknown devices. Successful
 * attempts never count, because two hundred boards may share one address.
 */
import { LRUCache } from 'lru-cache';
import { TokenBucket } from './token-bucket.js';

export interface AttemptLimits {
  /** Attempts at once from one address: a hall of new boards that is switched on. */
  readonly burst: number;
  /** Attempts per second from one address after the burst. */
  readonly perSecond: number;
  /** Maximum of remembered addresses; the least recently used is forgotten. */
  readonly addressesMax: number;
}

export const defaultAttemptLimits: AttemptLimits = { burst: 400, perSecond: 10, addressesMax: 10_000 };

export class AttemptLimiter {
  readonly #buckets: LRUCache<string, TokenBucket>;

  constructor(private readonly limits: AttemptLimits = defaultAttemptLimits) {
    this.#buckets = new LRUCache({ max: limits.addressesMax });
  }

  /** Counts an attempt. Returns false if it exceeds the limit. */
  take(address: string | undefined, now: number): boolean {
    const key = addressKey(address ?? '');
    const bucket = this.#buckets.get(key) ?? new TokenBucket(this.limits, now);
    this.#buckets.set(key, bucket);
    return bucket.takeOne(this.limits, now);
  }

  /** Whether another attempt would exceed the limit. Counts nothing. */
  isExhausted(address: string | undefined, now: number): boolean {
    const bucket = this.#buckets.peek(addressKey(address ?? ''));
    return bucket !== undefined && bucket.refill(this.limits, now) < 1;
  }

  /** Takes an attempt back, because its device turned out to be known. */
  giveBack(address: string | undefined): void {
    this.#buckets.peek(addressKey(address ?? ''))?.take(-1);
  }
}

/** IPv6 addresses of one /64 share a key: one household has all of them. */
export function addressKey(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('::', 2);
  const groups = head === '' ? [] : head.split(':');
  // `::` stands for zeros. Groups after it matter only if they are among the first four.
  const behind = tail ? tail.split(':') : [];
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - behind.length);
  return [...groups, ...Array<string>(zeros).fill('0'), ...behind].slice(0, 4).join(':');
}
