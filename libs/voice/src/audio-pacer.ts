/**
 * Schedules the packets of an answer to a device. Voice servers deliver seconds of speech at once,
 * but a device has a short queue. So the first packets fill its queue at once, and the rest follow
 * at playback speed.
 */

interface PacerRules {
  /** Sound in one packet, ms. */
  readonly frameMs: number;
  /** Packets that may be sent ahead of time. */
  readonly leadFrames: number;
}

export class AudioPacer {
  /** When all sent packets will have been played, ms. */
  #playedUntil = 0;

  constructor(private readonly rules: PacerRules) {}

  /** When the next packet may be sent: `now` or later. */
  nextAt(now: number): number {
    const { frameMs, leadFrames } = this.rules;
    // No more is sent ahead, unless the clock was set back.
    this.#playedUntil = Math.min(this.#playedUntil, now + (leadFrames + 1) * frameMs);
    return Math.max(now, this.#playedUntil - leadFrames * frameMs);
  }

  /** Records a sent packet. */
  sent(now: number): void {
    this.#playedUntil = Math.max(now, this.#playedUntil) + this.rules.frameMs;
  }

  /** Sent packets are no longer played, because the user interrupted. */
  interrupted(): void {
    this.#playedUntil = 0;
  }
}
