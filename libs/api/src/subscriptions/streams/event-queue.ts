/**
 * Events that wait for one subscriber, at most `lengthMax`. One more overruns it and empties it,
 * because a gap would go unnoticed.
 */
import type { FeedEvent } from '@flotilla/bus';

export class EventQueue {
  #waiting: FeedEvent[] = [];
  #wake: (() => void) | undefined;
  #isClosed = false;
  #isOverrun = false;

  constructor(private readonly lengthMax: number) {}

  /** Whether it ended because events were not read in time. */
  get isOverrun(): boolean {
    return this.#isOverrun;
  }

  /** After the end it does nothing. */
  push(event: FeedEvent): void {
    if (this.#isClosed) return;
    if (this.#waiting.length >= this.lengthMax) {
      this.#isOverrun = true;
      this.close();
      return;
    }
    this.#waiting.push(event);
    this.#wake?.();
  }

  /**
   * Waits for an event and returns up to `max`, oldest first; undefined once ended. One reader at a
   * time.
   */
  async take(max: number): Promise<readonly FeedEvent[] | undefined> {
    if (this.#waiting.length === 0 && !this.#isClosed) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
      this.#wake = undefined;
    }
    if (this.#isClosed) return undefined;
    if (this.#waiting.length > max) return this.#waiting.splice(0, max);
    const taken = this.#waiting;
    this.#waiting = [];
    return taken;
  }

  close(): void {
    this.#isClosed = true;
    this.#waiting = [];
    this.#wake?.();
  }
}
