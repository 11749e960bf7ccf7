/**
 * A rate limit per remote address for attempts that failed or came from unknown devices. Successful
 * attempts never count, because two hundred boards may share one address.
 */
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
  /** In the order of their last attempt. */
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(private readonly limits: AttemptLimits = defaultAttemptLimits) {}

  /** Counts an attempt. Returns false if it exceeds the limit. */
  take(address: string | undefined, now: number): boolean {
    const key = addressKey(address ?? '');
    const bucket = this.#buckets.get(key) ?? new TokenBucket(this.limits, now);
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    this.#evict();
    if (bucket.refill(this.limits, now) < 1) return false;
    bucket.take(1);
    return true;
  }

  /** Whether another attempt would exceed the limit. Counts nothing. */
  isExhausted(address: string | undefined, now: number): boolean {
    const bucket = this.#buckets.get(addressKey(address ?? ''));
    return bucket !== undefined && bucket.refill(this.limits, now) < 1;
  }

  /** Takes an attempt back, because its device turned out to be known. */
  giveBack(address: string | undefined): void {
    this.#buckets.get(addressKey(address ?? ''))?.take(-1);
  }

  #evict(): void {
    if (this.#buckets.size <= this.limits.addressesMax) return;
    for (const oldest of this.#buckets.keys()) {
      this.#buckets.delete(oldest);
      return;
    }
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
