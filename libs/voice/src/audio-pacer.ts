/**
 * Schedules the packets of an answer to a device. Voice servers deliver seconds of speech at once,
 * but a device has a short queue. So the first packets fill its queue at once, and the rest follow
 * at playback speed.
 */

export interface PacerRules {
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
    return Math.max(now, this.#playedUntil - this.rules.leadFrames * this.rules.frameMs);
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
