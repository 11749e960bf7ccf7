/** The rows of a list over one filter at a time, and the reads of its pages, one after another. */
import {
  changedPage,
  loadPages,
  noRows,
  type Page,
  type PageAnswer,
  rowsAfter,
  type RowsPatch,
  type ShownRows,
  withPatch,
} from './load-pages';
import { OneRead } from './one-read';

type Ask<Row, Failure> = (after: string | null) => Promise<PageAnswer<Row, Failure>>;

export interface ListState<Row, Failure> {
  readonly page: Page<Row>;
  readonly isLoading: boolean;
  readonly failure: Failure | undefined;
}

export const nothingRead: ListState<never, never> = { page: noRows, isLoading: true, failure: undefined };

/** The most rows that are read again at once. A viewer further down continues after these. */
const keptRowsMax = 1_000;

export class ListReads<Row, Failure> {
  #state: ListState<Row, Failure> = nothingRead;
  #filter: Ask<Row, Failure> | undefined;
  #reads: OneRead<string | null> | undefined;
  #patches: readonly RowsPatch<Row>[] = [];
  /** The shown rows are read again. */
  #isRefreshing = false;
  /** A further page was asked for meanwhile. */
  #isMoreWanted = false;
  /** Why the shown rows could not be read again. A further page does not end it. */
  #refreshFailure: Failure | undefined;

  constructor(private readonly show: (state: ListState<Row, Failure>) => void) {}

  /**
   * Reads the first pages of a filter until `rowsAtOnce` rows are there; each filter has another
   * `ask`. Answers of an earlier filter have no effect.
   */
  begin(ask: Ask<Row, Failure>, rowsAtOnce: number): void {
    this.end();
    this.#isMoreWanted = false;
    const reads = new OneRead(async (after: string | null) => {
      this.#patches = [];
      this.#isRefreshing = after === null && ask === this.#filter;
      this.#change({ isLoading: true });
      const rowsWanted = after === null ? Math.max(rowsAtOnce, this.#rowsKept(ask)) : 0;
      const answer = await loadPages(ask, { after, rowsWanted, isCurrent: () => reads === this.#reads });
      if (answer === undefined) return;
      this.#add(ask, after, answer);
      if (after === null && !reads.isAsked) this.#readOn(reads);
    });
    this.#reads = reads;
    reads.ask(null);
  }

  end(): void {
    this.#reads?.stop();
    this.#reads = undefined;
  }

  /** Reads the shown pages again, after a read that is on its way: it may be of a further page. */
  refresh(): void {
    this.#reads?.ask(null);
  }

  /** For reads at an interval: a read that is on its way is enough. */
  look(): void {
    if (this.#reads?.isReading === false) this.refresh();
  }

  /** Adds the page after a cursor, or after the rows of a refresh that is on its way. */
  readAfter(cursor: string | null): void {
    if (this.#reads?.isReading === false) this.#reads.ask(cursor);
    else if (this.#isRefreshing) this.#isMoreWanted = true;
  }

  patch(patch: RowsPatch<Row>): void {
    if (this.#reads?.isReading === true) this.#patches = withPatch(this.#patches, patch);
    this.#change({ page: changedPage(this.#state.page, patch) });
  }

  /** The refresh may have moved the end of the shown rows. */
  #readOn(reads: OneRead<string | null>): void {
    const { hasNextPage, endCursor } = this.#state.page;
    if (this.#isMoreWanted && hasNextPage) reads.ask(endCursor);
    this.#isMoreWanted = false;
  }

  /** Keeps the scroll position of a viewer who has scrolled down. */
  #rowsKept(filter: Ask<Row, Failure>): number {
    return filter === this.#filter ? Math.min(this.#state.page.rows.length, keptRowsMax) : 0;
  }

  #add(filter: Ask<Row, Failure>, after: string | null, { page: read, failure }: PageAnswer<Row, Failure>): void {
    const former: ShownRows<Row, Ask<Row, Failure>> = { filter: this.#filter, page: this.#state.page };
    const { page } = rowsAfter(former, { filter, after, page: read, patches: this.#patches });
    this.#filter = filter;
    if (after === null) this.#refreshFailure = read === undefined ? failure : undefined;
    this.#change({ page, isLoading: false, failure: failure ?? this.#refreshFailure });
  }

  #change(changes: Partial<ListState<Row, Failure>>): void {
    this.#state = { ...this.#state, ...changes };
    this.show(this.#state);
  }
}
