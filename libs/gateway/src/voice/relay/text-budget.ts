/** Limits the texts that a voice server may send: a token bucket. */
export class TextBudget {
  #tokens: number;
  #at: number | undefined;

  constructor(private readonly rate: { readonly perSecond: number; readonly burst: number }) {
    this.#tokens = rate.burst;
  }

  /** Takes one token at `now`, ms; false if none is left. */
  take(now: number): boolean {
    const { burst, perSecond } = this.rate;
    this.#tokens = Math.min(burst, this.#tokens + ((now - (this.#at ?? now)) / 1_000) * perSecond);
    this.#at = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
