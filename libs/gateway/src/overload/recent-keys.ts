/** A set of bounded size that forgets the key noted longest ago. */
export class RecentKeys {
  /** In the order in which they were noted last. */
  readonly #keys = new Set<string>();

  constructor(private readonly keysMax: number) {}

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  note(key: string): void {
    this.#keys.delete(key);
    this.#keys.add(key);
    if (this.#keys.size <= this.keysMax) return;
    for (const oldest of this.#keys) {
      this.#keys.delete(oldest);
      return;
    }
  }
}
