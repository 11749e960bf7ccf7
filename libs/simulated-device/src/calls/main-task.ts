/**
 * The main task: runs one piece of work at a time to its end, including its reply. [xiaozhi §4.5]
 * It owns no timer; it returns its wake-up time.
 */

/** Maximum of queued work; a real device is out of memory by then. More is dropped silently. */
const WORK_MAX = 1000;

/** What the task waits for: the answer to a hello, or to a request. */
type Holder = 'hello' | 'request';

export interface Work {
  /** Starts the work at `now` and says for how many ms it occupies the task. */
  begin(now: number): number;
  finish(now: number): void;
}

export class MainTask {
  #waiting: Work[] = [];
  #running: Work | undefined;
  #busyUntil = -Infinity;
  readonly #holders = new Set<Holder>();

  /** When `advance` must be called next, as far as this task knows. */
  get wakeAt(): number {
    return this.#running === undefined ? Infinity : this.#busyUntil;
  }

  push(work: Work): void {
    if (this.#waiting.length < WORK_MAX) this.#waiting.push(work);
  }

  /** Goes on with this before anything that waits. */
  pushFirst(work: Work): void {
    this.#waiting.unshift(work);
  }

  /** Blocks the task after the current work until all holders have released it. */
  hold(holder: Holder): void {
    this.#holders.add(holder);
  }

  release(holder: Holder): void {
    this.#holders.delete(holder);
  }

  /** Forgets everything, as a restart does. */
  clear(): void {
    this.#waiting = [];
    this.#running = undefined;
    this.#busyUntil = -Infinity;
    this.#holders.clear();
  }

  /**
   * Runs all work that is due. Queued work starts when the work before it ended, even if this call
   * is late.
   */
  advance(now: number): void {
    let startAt = now;
    for (;;) {
      if (this.#running !== undefined) {
        if (this.#busyUntil > now) return;
        const done = this.#running;
        this.#running = undefined;
        startAt = this.#busyUntil;
        done.finish(startAt);
      }
      const next = this.#holders.size > 0 ? undefined : this.#waiting.shift();
      if (next === undefined) return;
      this.#busyUntil = startAt + next.begin(startAt);
      this.#running = next;
    }
  }
}
