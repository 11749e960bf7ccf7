/**
 * Changes that wait for one subscriber: one per key, at most `lengthMax`. The oldest are dropped
 * and counted.
 */

export class SubscriberQueue<Item> {
  readonly #items = new Map<string, Item>();
  #wake: (() => void) | undefined;
  #isClosed = false;
  #droppedCount = 0;

  constructor(private readonly lengthMax: number) {}

  /** The number of dropped changes. */
  get droppedCount(): number {
    return this.#droppedCount;
  }

  /** Replaces what waits under the same key. After `close` it does nothing. */
  push(key: string, item: Item): void {
    if (this.#isClosed) return;
    if (!this.#items.has(key) && this.#items.size >= this.lengthMax) this.#dropOldest();
    this.#items.set(key, item);
    this.#wake?.();
  }

  /**
   * Waits for an item and returns up to `max`, oldest first; undefined once closed. One reader at a
   * time.
   */
  async take(max: number): Promise<readonly Item[] | undefined> {
    if (this.#items.size === 0 && !this.#isClosed) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
      this.#wake = undefined;
    }
    if (this.#isClosed) return undefined;
    const taken: Item[] = [];
    for (const [key, item] of this.#items) {
      if (taken.length >= max) break;
      taken.push(item);
      this.#items.delete(key);
    }
    return taken;
  }

  close(): void {
    this.#isClosed = true;
    this.#items.clear();
    this.#wake?.();
  }

  #dropOldest(): void {
    const [oldest] = this.#items.keys();
    if (oldest !== undefined) this.#items.delete(oldest);
    this.#droppedCount++;
  }
}
