/**
 * Remembers the boards that wait for approval in this process, so that each causes one event and
 * may repeat its activation request. The limit is shared fairly between the networks that the
 * boards use.
 */

interface Waiting {
  readonly challenge: string;
  readonly network: string;
}

export class WaitingBoards {
  readonly #boards = new Map<string, Waiting>();
  /** The boards of each network, ordered by their last request. */
  readonly #byNetwork = new Map<string, Set<string>>();

  constructor(private readonly boardsMax: number) {}

  has(board: string): boolean {
    return this.#boards.has(board);
  }

  /**
   * Returns true if the board did not wait with this challenge. Beyond the limit, the network with
   * most boards loses its oldest.
   */
  record(board: string, { challenge, network }: Waiting): boolean {
    const isNew = this.#boards.get(board)?.challenge !== challenge;
    this.#forget(board);
    this.#boards.set(board, { challenge, network });
    const ofNetwork = this.#byNetwork.get(network) ?? new Set();
    this.#byNetwork.set(network, ofNetwork.add(board));
    if (this.#boards.size > this.boardsMax) this.#evict();
    return isNew;
  }

  #evict(): void {
    let largest: ReadonlySet<string> = new Set();
    for (const ofNetwork of this.#byNetwork.values()) if (ofNetwork.size > largest.size) largest = ofNetwork;
    const [oldest] = largest;
    if (oldest !== undefined) this.#forget(oldest);
  }

  #forget(board: string): void {
    const { network } = this.#boards.get(board) ?? {};
    this.#boards.delete(board);
    if (network === undefined) return;
    const ofNetwork = this.#byNetwork.get(network);
    ofNetwork?.delete(board);
    if (ofNetwork?.size === 0) this.#byNetwork.delete(network);
  }
}
