/**
 * Which sequence numbers of one sender are accepted: those above the newest, as on devices, but not
 * far above. Packets are not authenticated, so a forged huge number would otherwise block the
 * device for ever. [xiaozhi §2.5]
 */

type SequenceVerdict = 'accepted' | 'replayed' | 'too_far';

export class SequenceWindow {
  #last = 0;
  #skipped = 0;

  /** `aheadMax`: how many consecutive packets may be lost. */
  constructor(private readonly aheadMax: number) {}

  /** The newest accepted number; 0 before the first. */
  get last(): number {
    return this.#last;
  }

  /** Skipped numbers: lost or overtaken. */
  get skipped(): number {
    return this.#skipped;
  }

  /** Returns the verdict on a number without recording it. */
  judge(sequence: number): SequenceVerdict {
    if (sequence <= this.#last) return 'replayed';
    return sequence - this.#last > this.aheadMax ? 'too_far' : 'accepted';
  }

  /** Judges a number and records an accepted one. */
  take(sequence: number): SequenceVerdict {
    const verdict = this.judge(sequence);
    if (verdict !== 'accepted') return verdict;
    this.#skipped += sequence - this.#last - 1;
    this.#last = sequence;
    return verdict;
  }
}
