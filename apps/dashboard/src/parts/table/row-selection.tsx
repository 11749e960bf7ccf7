/**
 * The checkboxes of table rows. Native elements in the accent colour, because they must be cheap
 * for thousands of rows.
 */
import { useEffect, useRef } from 'react';
import classes from './data-table.module.css';

export interface Selection<Row> {
  /** Keys of rows. */
  readonly selected: ReadonlySet<string>;
  /** The same function always. */
  readonly toggle: (row: Row) => void;
  /** All that are loaded, or none. */
  readonly toggleAll: (areAll: boolean) => void;
  readonly allLabel: string;
  readonly labelOf: (row: Row) => string;
}

interface SelectionCheckProps<Row> {
  readonly selection: Selection<Row>;
  readonly rows: readonly Row[];
}

export function SelectionCheck<Row>({ selection: { selected, toggleAll, allLabel }, rows }: SelectionCheckProps<Row>) {
  const box = useRef<HTMLInputElement>(null);
  // Selected rows are all among those that are loaded.
  const areAll = rows.length > 0 && selected.size >= rows.length;
  const areSome = selected.size > 0 && !areAll;
  useEffect(() => {
    if (box.current) box.current.indeterminate = areSome;
  }, [areSome]);
  return (
    <input
      ref={box}
      type="checkbox"
      className={classes.check}
      aria-label={allLabel}
      checked={areAll}
      onChange={() => toggleAll(!areAll)}
    />
  );
}

interface RowCheckProps<Row> {
  readonly row: Row;
  readonly check: Selection<Row>;
  readonly isSelected: boolean;
}

export function RowCheck<Row>({ row, check: { toggle, labelOf }, isSelected }: RowCheckProps<Row>) {
  return (
    <input
      type="checkbox"
      className={classes.check}
      aria-label={labelOf(row)}
      checked={isSelected}
      onChange={() => toggle(row)}
    />
  );
}
