/**
 * Knows whether a caller in this process waits for a single call, so that jobs leave room and a
 * process that stops waits for it.
 */
import type { Clock } from '@flotilla/session';

/** How long room is kept after the last one, ms: who has called once often calls again. */
const roomKeptMs = 1_000;

export class SingleCalls {
  #underWay = 0;
  #endedAt = -Infinity;

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  get areUnderWay(): boolean {
    return this.#underWay > 0;
  }

  /** One is under way, or has just been. */
  get areExpected(): boolean {
    return this.#underWay > 0 || this.clock.now() - this.#endedAt < roomKeptMs;
  }

  async during<Result>(call: () => Promise<Result>): Promise<Result> {
    this.#underWay += 1;
    try {
      return await call();
    } finally {
      this.#underWay -= 1;
      this.#endedAt = this.clock.now();
    }
  }
}
