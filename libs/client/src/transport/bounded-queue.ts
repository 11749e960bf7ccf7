/** A bounded queue between a sender that does not wait and one reader that does. */

export class BoundedQueue<Value> {
  readonly #values: Value[] = [];
  #wake: (() => void) | undefined;
  #end: { readonly error?: unknown } | undefined;

  constructor(
    private readonly max: number,
    private readonly overflow: () => Error,
  ) {}

  /** One value too many ends the queue: what waits is still read, then comes the error. */
  push(value: Value): void {
    if (this.#end) return;
    if (this.#values.length >= this.max) return this.fail(this.overflow());
    this.#values.push(value);
    this.#wake?.();
  }

  fail(error: unknown): void {
    this.#end ??= { error };
    this.#wake?.();
  }

  close(): void {
    this.#end ??= {};
    this.#wake?.();
  }

  /** The next value, or undefined after the last. Throws what the queue failed with. */
  async take(): Promise<Value | undefined> {
    while (this.#values.length === 0) {
      if (this.#end) {
        if ('error' in this.#end) throw this.#end.error;
        return undefined;
      }
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    return this.#values.shift();
  }
}
