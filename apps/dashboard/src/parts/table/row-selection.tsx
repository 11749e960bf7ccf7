/**
 * The checkboxes of table rows. Native elements in the accent colour, because they must be cheap
 * for thousands of rows.
 */
import { useEffect, useRef } from 'react';
import classes from './data-table.module.css';

export interface Selection<Row> {
  readonly isSelected: (row: Row) => boolean;
  /** The same function always. `isRange`: also the rows since the last one. */
  readonly toggle: (row: Row, isRange: boolean) => void;
  /** All that are loaded, or none. */
  readonly toggleAll: (areAll: boolean) => void;
  readonly allLabel: string;
  readonly labelOf: (row: Row) => string;
}

interface SelectionCheckProps<Row> {
  readonly selection: Selection<Row>;
  readonly rows: readonly Row[];
}

export function SelectionCheck<Row>({
  selection: { isSelected, toggleAll, allLabel },
  rows,
}: SelectionCheckProps<Row>) {
  const box = useRef<HTMLInputElement>(null);
  const areAll = rows.length > 0 && rows.every(isSelected);
  const areSome = !areAll && rows.some(isSelected);
  useEffect(() => {
    if (box.current) box.current.indeterminate = areSome;
  }, [areSome]);
  return (
    // The label makes the place around the box a part of it.
    <label className={classes.checkPlace}>
      <input
        ref={box}
        type="checkbox"
        className={classes.check}
        aria-label={allLabel}
        checked={areAll}
        disabled={rows.length === 0}
        onChange={() => toggleAll(!areAll)}
      />
    </label>
  );
}

interface RowCheckProps<Row> {
  readonly row: Row;
  readonly check: Selection<Row>;
  readonly isSelected: boolean;
}

export function RowCheck<Row>({ row, check: { toggle, labelOf }, isSelected }: RowCheckProps<Row>) {
  return (
    <label className={classes.checkPlace}>
      <input
        type="checkbox"
        className={classes.check}
        aria-label={labelOf(row)}
        checked={isSelected}
        // A change by a click or by Space is a click in both cases.
        onChange={({ nativeEvent }) => toggle(row, nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)}
      />
    </label>
  );
}
