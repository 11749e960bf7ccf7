/** Lets entries be written side by side, and counted only while none is written. */

export class EntryLock {
  readonly #writes = new Set<Promise<unknown>>();
  #count: Promise<unknown> | undefined;

  /** `work` must write the entries and then update the counts. */
  async write<Result>(work: () => Promise<Result>): Promise<Result> {
    while (this.#count !== undefined) await this.#count;
    const write = work();
    this.#writes.add(write);
    try {
      return await write;
    } finally {
      this.#writes.delete(write);
    }
  }

  /** One at a time. */
  async count(work: () => Promise<void>): Promise<void> {
    const count = Promise.allSettled(this.#writes).then(work);
    this.#count = count.catch(() => undefined);
    try {
      await count;
    } finally {
      this.#count = undefined;
    }
  }
}
