/**
 * Work scheduled for a later time, apart from the main task. It owns no timer; it returns its
 * wake-up time.
 */

/** Acts that may be planned at a time; a device that is asked for more forgets the newest. */
const ACTS_MAX = 1000;

type Act = (now: number) => void;

export class Agenda {
  #acts: readonly { readonly at: number; readonly act: Act }[] = [];

  get wakeAt(): number {
    return this.#acts[0]?.at ?? Infinity;
  }

  /** Plans `act`; acts of the same time keep their order. */
  add(at: number, act: Act): void {
    if (this.#acts.length < ACTS_MAX) this.#acts = [...this.#acts, { at, act }].sort((a, b) => a.at - b.at);
  }

  clear(): void {
    this.#acts = [];
  }

  runDue(now: number): void {
    for (let first = this.#acts[0]; first !== undefined && first.at <= now; first = this.#acts[0]) {
      this.#acts = this.#acts.slice(1);
      first.act(first.at);
    }
  }
}
