/**
 * The calls of one run that are handed over and not settled. An array instead of a Map: V8's young
 * generation kept nearly all entries that a growing Map ever had, which cost 20 MB and 40 ms per
 * collection, three times in ten thousand targets.
 */
import type { Job } from '@flotilla/jobs';
import type { ClaimedTarget } from '@flotilla/registry';

export interface InFlightCall {
  readonly target: ClaimedTarget;
  readonly arguments: Job['arguments'];
  /** When the hub delivered it to the gateway, ms since the Unix epoch. */
  readonly handedOverAt: number;
  /** Its row says SENT. */
  isMarked: boolean;
  /** Its index in the array of `InFlightCalls`, which alone uses it. */
  place: number;
}

export class InFlightCalls {
  #calls: InFlightCall[] = [];

  get size(): number {
    return this.#calls.length;
  }

  has(call: InFlightCall): boolean {
    return this.#calls[call.place] === call;
  }

  add(target: ClaimedTarget, args: Job['arguments'], handedOverAt: number): InFlightCall {
    const call = { target, arguments: args, handedOverAt, isMarked: false, place: this.#calls.length };
    this.#calls.push(call);
    return call;
  }

  remove(call: InFlightCall): void {
    if (!this.has(call)) return;
    const last = this.#calls.pop();
    if (last === undefined || last === call) return;
    this.#calls[call.place] = last;
    last.place = call.place;
  }

  clear(): void {
    this.#calls = [];
  }

  /** Those handed over at that time or earlier that are not marked yet, at most `max`. */
  unmarked(until: number, max: number): readonly InFlightCall[] {
    const found: InFlightCall[] = [];
    for (const call of this.#calls) {
      if (found.length === max) break;
      if (!call.isMarked && call.handedOverAt <= until) found.push(call);
    }
    return found;
  }
}
