/**
 * Rows of any number, of which only those in sight are drawn. Asks for the next page before its end is reached. Sorting is the hub's: a header with `sort`
 * only says that somebody wants it.
 */
import { type CSSProperties, type ReactNode, useEffect, useRef } from 'react';
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useTranslation } from 'react-i18next';
import { useDensity } from '../look/density';
import classes from './data-table.module.css';

export interface Column<Row> {
  readonly id: string;
  readonly header: ReactNode;
  readonly cell: (row: Row) => ReactNode;
  /** Least width, px. */
  readonly width: number;
  /** Share of the width that is left; 0 where more would help nobody. */
  readonly grow?: number;
  readonly isNumeric?: boolean;
  readonly sort?: { readonly isActive: boolean; readonly direction: 'ascending' | 'descending'; readonly onChoose: () => void };
}

export interface DataTableProps<Row> {
  /** What a screen reader calls the table. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  readonly isSelected?: (row: Row) => boolean;
  /** Of all that match, where it is known: a screen reader says how many there are. */
  readonly totalCount?: number | null | undefined;
  readonly hasMore?: boolean;
  readonly onEnd?: () => void;
  /** What the rows are of: where it changes, one looks at the first of them. */
  readonly rowsOf?: string;
  /** A CSS length, for tables that do not fill the page. */
  readonly maxHeight?: string;
}

/** Rows are made beyond the edges, and asked for before the end by as many. */
const rowsAhead = 12;
const rowHeights = { comfortable: 44, compact: 32 };

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, rows, rowKey, isSelected, totalCount, hasMore = false, onEnd, rowsOf, maxHeight } = props;
  const { t } = useTranslation();
  const frame = useRef<HTMLDivElement>(null);
  const rowHeight = rowHeights[useDensity().density];
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => rowHeight,
    overscan: rowsAhead,
    getItemKey: (index) => keyAt(rows, index, rowKey),
  });
  useEffect(() => virtual.measure(), [virtual, rowHeight]);
  useEffect(() => {
    // No result of it is handed on: new browsers answer with a promise, which is no way to clean up.
    frame.current?.scrollTo({ top: 0 });
  }, [rowsOf]);
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? -1;
  useEffect(() => {
    if (hasMore && last >= rows.length - rowsAhead) onEnd?.();
  }, [hasMore, last, rows.length, onEnd]);

  const minWidth = columns.reduce((sum, { width }) => sum + width + 16, 32);
  const template: CSSProperties = {
    gridTemplateColumns: columns.map(({ width, grow = 1 }) => (grow === 0 ? `${width}px` : `minmax(${width}px, ${grow}fr)`)).join(' '),
  };
  return (
    // A region that scrolls must be reachable by keyboard.
    <div ref={frame} className={classes.frame} tabIndex={0} role="region" aria-label={label} style={frameStyle(maxHeight)}>
      <div className={classes.table} role="table" aria-label={label} aria-rowcount={(totalCount ?? rows.length) + 1} style={{ minWidth }}>
        <div role="rowgroup" className={classes.header} style={{ display: 'block', padding: 0 }}>
          <div role="row" aria-rowindex={1} className={classes.header} style={{ ...template, position: 'static' }}>
            {columns.map((column) => (
              <Header key={column.id} column={column} />
            ))}
          </div>
        </div>
        <div role="rowgroup" style={{ position: 'relative', height: virtual.getTotalSize() }}>
          {items.map(({ index, key, start }) => {
            const row = rows[index];
            if (row === undefined) return null;
            return (
              <div
                key={key}
                role="row"
                aria-rowindex={index + 2}
                className={classes.row}
                data-selected={isSelected?.(row) || undefined}
                style={{ ...template, transform: `translateY(${start}px)` }}
              >
                {columns.map(({ id, cell, isNumeric }) => (
                  <div key={id} role="cell" className={classes.cell} data-numeric={isNumeric || undefined}>
                    {cell(row)}
                  </div>
                ))}
              </div>
            );
          })}
        </div>
      </div>
      {hasMore && <div className={classes.end}>{t('common.loadingMore')}</div>}
    </div>
  );
}

function Header<Row>({ column: { header, isNumeric, sort } }: { readonly column: Column<Row> }) {
  return (
    <div
      role="columnheader"
      className={classes.cell}
      data-numeric={isNumeric || undefined}
      aria-sort={sort?.isActive ? sort.direction : undefined}
    >
      {sort ? (
        <button type="button" className={classes.sort} data-active={sort.isActive || undefined} onClick={sort.onChoose}>
          {header}
          {sort.isActive &&
            (sort.direction === 'ascending' ? <IconArrowUp size={13} aria-hidden /> : <IconArrowDown size={13} aria-hidden />)}
        </button>
      ) : (
        header
      )}
    </div>
  );
}

function keyAt<Row>(rows: readonly Row[], index: number, rowKey: (row: Row) => string): string | number {
  const row = rows[index];
  return row === undefined ? index : rowKey(row);
}

function frameStyle(maxHeight: string | undefined): CSSProperties | undefined {
  return maxHeight === undefined ? undefined : { maxHeight };
}
