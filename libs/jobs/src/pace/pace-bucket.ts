/** A bucket of tokens, one per send. A value: taking tokens returns another bucket. */

export interface PaceBucket {
  readonly tokens: number;
  /** Ms since the Unix epoch. */
  readonly filledAt: number;
}

/** Tokens are taken in blocks of so much time, ms: single ones would cost a commit per send. */
const blockMs = 50;
/** Blocks that a bucket holds: what a loop that comes a little late may catch up with. */
const blocksHeld = 2;

/** Empty, so that a restart grants nothing that was granted before it. */
export function emptyBucket(now: number): PaceBucket {
  return { tokens: 0, filledAt: now };
}

export function refilled({ tokens, filledAt }: PaceBucket, perMinute: number, now: number): PaceBucket {
  const added = (Math.max(0, now - filledAt) * perMinute) / 60_000;
  return { tokens: Math.min(tokens + added, bucketSize(perMinute)), filledAt: now };
}

/** The most that can be taken at once. */
export function bucketSize(perMinute: number): number {
  return Math.max(1, blocksHeld * blockOf(perMinute));
}

/** Whole tokens that may be taken now: none until a block, or all that is wanted, is there. */
export function takeable({ tokens }: PaceBucket, perMinute: number, wanted: number): number {
  const whole = Math.floor(tokens);
  return whole >= Math.min(wanted, Math.floor(blockOf(perMinute))) ? Math.min(whole, wanted) : 0;
}

export function withTaken({ tokens, filledAt }: PaceBucket, count: number): PaceBucket {
  return { tokens: tokens - count, filledAt };
}

/** Ms until a block is there. */
export function waitMs({ tokens }: PaceBucket, perMinute: number): number {
  const missing = Math.floor(blockOf(perMinute)) - tokens;
  return missing <= 0 ? 0 : Math.ceil((missing * 60_000) / perMinute);
}

function blockOf(perMinute: number): number {
  return Math.max(1, (perMinute * blockMs) / 60_000);
}
