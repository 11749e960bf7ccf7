/** How far a person had scrolled in the tables of each page of the browser's history. */
const entriesMax = 100;

export class ListPlaces {
  /** Px by history entry and table; the latest last. */
  readonly #places = new Map<string, number>();

  /** Undefined at the top, and for an entry that is new or was forgotten. */
  of(entry: string, table: string): number | undefined {
    return this.#places.get(keyOf(entry, table));
  }

  keep(entry: string, table: string, scrollTop: number): void {
    const key = keyOf(entry, table);
    this.#places.delete(key);
    if (scrollTop <= 0) return;
    this.#places.set(key, scrollTop);
    const [oldest] = this.#places.keys();
    if (this.#places.size > entriesMax && oldest !== undefined) this.#places.delete(oldest);
  }
}

function keyOf(entry: string, table: string): string {
  return `${entry} ${table}`;
}
