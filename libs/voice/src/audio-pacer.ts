/**
 * When the packets of an answer go to a device. Voice servers hand over seconds of speech at once; a device has a short queue and no way to ask for
 * less. So the first packets of an utterance go at once, to fill its queue, and the rest at the speed at which they are played.
 */

export interface PacerRules {
  /** Sound in one packet, ms. */
  readonly frameMs: number;
  /** Packets that may go ahead of time. */
  readonly leadFrames: number;
}

export class AudioPacer {
  /** When everything that was sent will have been played, ms. */
  #playedUntil = 0;

  constructor(private readonly rules: PacerRules) {}

  /** When the next packet may go: `now`, or later. */
  nextAt(now: number): number {
    return Math.max(now, this.#playedUntil - this.rules.leadFrames * this.rules.frameMs);
  }

  /** A packet went. */
  sent(now: number): void {
    this.#playedUntil = Math.max(now, this.#playedUntil) + this.rules.frameMs;
  }

  /** What was sent is no longer played: the user interrupted. */
  interrupted(): void {
    this.#playedUntil = 0;
  }
}
