/**
 * Which sequence numbers of one sender are taken: only ones above the newest, as devices themselves do, and not far above it. Packets have no tag, so a
 * forged one with a huge number would otherwise silence the device for good; with the bound it costs at most `aheadMax` packets. [xiaozhi §2.5]
 */

export type SequenceVerdict = 'accepted' | 'replayed' | 'too_far';

export class SequenceWindow {
  #last = 0;
  #skipped = 0;

  /** `aheadMax`: how many packets in a row may have got lost. */
  constructor(private readonly aheadMax: number) {}

  /** The newest number that was accepted; 0 before the first. */
  get last(): number {
    return this.#last;
  }

  /** Numbers passed over: lost on the way, or overtaken. */
  get skipped(): number {
    return this.#skipped;
  }

  /** What would become of a packet with this number; changes nothing. */
  judge(sequence: number): SequenceVerdict {
    if (sequence <= this.#last) return 'replayed';
    return sequence - this.#last > this.aheadMax ? 'too_far' : 'accepted';
  }

  /** Judges, and remembers an accepted number. */
  take(sequence: number): SequenceVerdict {
    const verdict = this.judge(sequence);
    if (verdict !== 'accepted') return verdict;
    this.#skipped += sequence - this.#last - 1;
    this.#last = sequence;
    return verdict;
  }
}
