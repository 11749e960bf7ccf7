/**
 * One read at a time. The client joins a request to an equal one in flight, whose answer may be
 * older than the news that it was asked for: so a read that is asked for meanwhile comes after it.
 */
export class OneRead<Wanted> {
  #isReading = false;
  #next: { readonly wanted: Wanted } | undefined;

  /** `read` shows its failures itself. One that throws does not end the reads after it. */
  constructor(private readonly read: (wanted: Wanted) => Promise<void>) {}

  get isReading(): boolean {
    return this.#isReading;
  }

  /** Whether another read follows the one on its way. */
  get isAsked(): boolean {
    return this.#next !== undefined;
  }

  ask(wanted: Wanted): void {
    this.#next = { wanted };
    if (!this.#isReading) void this.#readAll();
  }

  /** Drops a read that has not begun. */
  stop(): void {
    this.#next = undefined;
  }

  async #readAll(): Promise<void> {
    this.#isReading = true;
    while (this.#next !== undefined) {
      const { wanted } = this.#next;
      this.#next = undefined;
      try {
        await this.read(wanted);
      } catch {
        // The next one may succeed.
      }
    }
    this.#isReading = false;
  }
}
