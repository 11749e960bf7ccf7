/**
 * Bounds what strangers may make the hub do, per remote address. It is told only of attempts that failed or that came from devices unknown to the hub: two hundred boards
 * sit behind one address, and what they do rightly never counts.
 */

export interface AttemptLimits {
  /** Attempts at once from one address: a new hall of boards that is switched on. */
  readonly burst: number;
  /** Attempts per second that one address may go on with. */
  readonly perSecond: number;
  /** Addresses remembered; the one unheard of for longest goes. */
  readonly addressesMax: number;
}

export const defaultAttemptLimits: AttemptLimits = { burst: 400, perSecond: 10, addressesMax: 10_000 };

interface Bucket {
  tokens: number;
  filledAt: number;
}

export class AttemptLimiter {
  /** In the order of their last attempt. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(private readonly limits: AttemptLimits = defaultAttemptLimits) {}

  /** Counts an attempt; false where it is one too many. */
  take(address: string | undefined, now: number): boolean {
    const key = addressKey(address ?? '');
    const bucket = this.#buckets.get(key) ?? { tokens: this.limits.burst, filledAt: now };
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    this.#evict();
    bucket.tokens = Math.min(this.limits.burst, bucket.tokens + this.#gained(bucket, now));
    bucket.filledAt = now;
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }

  /** Whether a further attempt would be one too many. Counts nothing. */
  isExhausted(address: string | undefined, now: number): boolean {
    const bucket = this.#buckets.get(addressKey(address ?? ''));
    return bucket !== undefined && bucket.tokens + this.#gained(bucket, now) < 1;
  }

  /** The attempt was no stranger's after all: it does not count. */
  giveBack(address: string | undefined): void {
    const bucket = this.#buckets.get(addressKey(address ?? ''));
    if (bucket) bucket.tokens = Math.min(this.limits.burst, bucket.tokens + 1);
  }

  #gained({ filledAt }: Bucket, now: number): number {
    return (Math.max(0, now - filledAt) / 1_000) * this.limits.perSecond;
  }

  #evict(): void {
    if (this.#buckets.size <= this.limits.addressesMax) return;
    for (const oldest of this.#buckets.keys()) {
      this.#buckets.delete(oldest);
      return;
    }
  }
}

/** One household has a /64 of IPv6 and can take any address in it. */
export function addressKey(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('::', 2);
  const groups = head === '' ? [] : head.split(':');
  // What `::` stands for is zeros; those behind it matter only where they reach into the first four groups.
  const behind = tail ? tail.split(':') : [];
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - behind.length);
  return [...groups, ...Array<string>(zeros).fill('0'), ...behind].slice(0, 4).join(':');
}
