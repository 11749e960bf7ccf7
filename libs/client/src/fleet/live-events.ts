/**
 * Live values for one reader. An overflowing queue is emptied, and the reader is notified of the
 * gap.
 */

export class LiveEvents<Value> {
  #values: Value[] = [];
  #hasMissed = false;
  #failure: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;

  constructor(private readonly max: number) {}

  push(value: Value): void {
    if (this.#values.length >= this.max) return this.miss();
    this.#values.push(value);
    this.#wake?.();
  }

  /** Empties the queue: the reader reads its events again, together with the missed ones. */
  miss(): void {
    this.#values = [];
    this.#hasMissed = true;
    this.#wake?.();
  }

  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#wake?.();
  }

  async take(): Promise<Value | 'missed'> {
    for (;;) {
      if (this.#failure) throw this.#failure.error;
      if (this.#hasMissed) {
        this.#hasMissed = false;
        return 'missed';
      }
      const value = this.#values.shift();
      if (value !== undefined) return value;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
