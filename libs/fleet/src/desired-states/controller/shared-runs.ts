/**
 * Runs the same work one at a time. Callers during a run share the one after it, because what they
 * ask for may be newer than what the present run has read.
 */
export class SharedRuns {
  #current: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  /** `work` must not reject. */
  constructor(private readonly work: () => Promise<void>) {}

  /** Resolves after a run that began at this call or later. */
  run(): Promise<void> {
    if (this.#current === undefined) return this.#begin();
    this.#next ??= this.#current.then(() => {
      this.#next = undefined;
      return this.#begin();
    });
    return this.#next;
  }

  /** Resolves when the present run has ended. */
  async ended(): Promise<void> {
    await this.#current;
  }

  #begin(): Promise<void> {
    this.#current = this.work().finally(() => (this.#current = undefined));
    return this.#current;
  }
}
