/**
 * The device's main task: one piece of work after the other, each to its end, replies included. [xiaozhi §4.5] It owns no timer: it says when it wants
 * to be woken.
 */

/** Work that a device keeps waiting; a real one is out of memory by then. More is dropped without a word. */
const WORK_MAX = 1000;

/** What the task waits for: the answer to a hello, or to a request. */
export type Holder = 'hello' | 'request';

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

  /** Blocks the task after the work that runs now, until this holder and all others have released it. */
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

  /** Runs whatever is due at `now`. Work that follows other work begins when that ended, however late this call comes. */
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
