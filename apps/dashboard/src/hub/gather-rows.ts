/** Collects changes of visible rows and applies them in batches, to limit redraws. */

/** Ms that changes are gathered. */
export const gatherMs = 400;

export type PatchRows<Row> = (change: (rows: readonly Row[]) => readonly Row[]) => void;

export interface GatheredRows<Row> {
  /** Adds the newest version of a row. */
  readonly add: (row: Row) => void;
  /** Drops what was not applied yet. */
  readonly stop: () => void;
}

/** Replaces rows by their id. Rows that are not shown have no effect. */
export function gatherRows<Row extends { readonly id: string }>(patch: PatchRows<Row>): GatheredRows<Row> {
  const changed = new Map<string, Row>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    timer = undefined;
    const updates = new Map(changed);
    changed.clear();
    patch((rows) => (rows.some(({ id }) => updates.has(id)) ? rows.map((row) => updates.get(row.id) ?? row) : rows));
  };
  return {
    add: (row) => {
      changed.set(row.id, row);
      timer ??= setTimeout(flush, gatherMs);
    },
    stop: () => clearTimeout(timer),
  };
}
