/** Collects changes of a list and applies them in batches, to limit redraws and reads. */

/** Ms that changes are gathered. */
export const gatherMs = 400;

export type PatchRows<Row> = (change: (rows: readonly Row[]) => readonly Row[]) => void;

export interface RowChange<Row> {
  /** The row as it is now. */
  readonly row: Row;
  /** False: the row is not in the list any more. */
  readonly matches: boolean;
}

export interface ChangedList<Row> {
  readonly shown: () => readonly Row[];
  readonly patch: PatchRows<Row>;
  /** Whether the row has another place in the order of the list now. */
  readonly isMoved: (before: Row, now: Row) => boolean;
  /** Called once per batch if rows came, left or moved: what is shown must be read again. */
  readonly onMembership: () => void;
}

interface GatheredChanges<Row> {
  readonly add: (change: RowChange<Row>) => void;
  /** Drops what was not applied yet. */
  readonly stop: () => void;
}

/** Replaces and removes rows by their id. The place of a new row is known only to the hub. */
export function gatherChanges<Row extends { readonly id: string }>(list: ChangedList<Row>): GatheredChanges<Row> {
  const gathered = new Map<string, RowChange<Row>>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    timer = undefined;
    const changes = new Map(gathered);
    gathered.clear();
    const before = new Map(list.shown().map((row) => [row.id, row]));
    list.patch((rows) => withChanges(rows, changes));
    if ([...changes.values()].some((change) => isMembership(before.get(change.row.id), change, list.isMoved)))
      list.onMembership();
  };
  return {
    add: (change) => {
      gathered.set(change.row.id, change);
      timer ??= setTimeout(flush, gatherMs);
    },
    stop: () => clearTimeout(timer),
  };
}

function withChanges<Row extends { readonly id: string }>(
  rows: readonly Row[],
  changes: ReadonlyMap<string, RowChange<Row>>,
): readonly Row[] {
  if (!rows.some(({ id }) => changes.has(id))) return rows;
  return rows.flatMap((row) => {
    const change = changes.get(row.id);
    if (change === undefined) return [row];
    return change.matches ? [change.row] : [];
  });
}

function isMembership<Row>(
  before: Row | undefined,
  { row, matches }: RowChange<Row>,
  isMoved: ChangedList<Row>['isMoved'],
): boolean {
  if (before === undefined) return matches;
  return !matches || isMoved(before, row);
}
