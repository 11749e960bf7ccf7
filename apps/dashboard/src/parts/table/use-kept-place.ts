/** Keeps the rows that one reads in their place while others come above them. */
import { type RefObject, useLayoutEffect, useRef } from 'react';
import { rowsAbove } from './rows-above';

interface KeptPlace<Row> {
  readonly frame: RefObject<HTMLElement | null>;
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** Px. */
  readonly rowHeight: number;
  /** What the rows are of: another list begins at its top. */
  readonly rowsOf: string | undefined;
}

/** At its top, the table shows what comes. */
export function useKeptPlace<Row>({ frame, rows, rowKey, rowHeight, rowsOf }: KeptPlace<Row>): void {
  const former = useRef({ rows, rowsOf });
  useLayoutEffect(() => {
    const before = former.current;
    former.current = { rows, rowsOf };
    const element = frame.current;
    if (element === null || before.rows === rows || before.rowsOf !== rowsOf) return;
    const first = Math.floor(element.scrollTop / rowHeight);
    if (first === 0) return;
    element.scrollTop += rowsAbove(before.rows.map(rowKey), rows.map(rowKey), first) * rowHeight;
  });
}
