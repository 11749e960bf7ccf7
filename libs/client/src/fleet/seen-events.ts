/**
 * The events of the last seconds: delivers each once, and knows where to read again after a gap.
 */

interface Seen {
  readonly cursor: string;
  readonly node: { readonly id: string };
}

/**
 * An event may be written a little after one with a later cursor, so reading restarts this much
 * earlier, ms.
 */
const overlapMs = 5_000;
/** Of a fleet that says more than a thousand a second the last of those are remembered. */
const rememberedMax = 5_000;

export class SeenEvents {
  readonly #recent = new Map<string, { readonly cursor: string; readonly at: number }>();
  /** Everything up to this cursor was delivered, long enough ago. */
  #resumeAfter: string | undefined;
  /** The event of that cursor. Ids rise like cursors, which cannot be compared. */
  #resumeId = '';

  constructor(start: string | undefined) {
    this.#resumeAfter = start;
  }

  get resumeAfter(): string | undefined {
    return this.#resumeAfter;
  }

  /** True where it is new. `now` in ms. */
  add({ cursor, node: { id } }: Seen, now = Date.now()): boolean {
    if (this.#recent.has(id)) return false;
    this.#recent.set(id, { cursor, at: now });
    for (const [oldest, { cursor: passed, at }] of this.#recent) {
      if (this.#recent.size <= rememberedMax && now - at <= overlapMs) break;
      this.#recent.delete(oldest);
      // One that came late is before others that were delivered.
      if (oldest > this.#resumeId) [this.#resumeId, this.#resumeAfter] = [oldest, passed];
    }
    return true;
  }
}
