/**
 * A virtualized table: draws only visible rows and loads the next page before the end is reached.
 * The hub sorts; a header with `sort` only reports the request.
 */
import { type CSSProperties, memo, type PointerEvent, type ReactNode, useEffect, useMemo, useRef } from 'react';
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useTranslation } from 'react-i18next';
import { useDensity } from '../../look/density';
import classes from './data-table.module.css';
import { RowCheck, type Selection, SelectionCheck } from './row-selection';
import { useKeptPlace } from './use-kept-place';
import { useReturnedPlace } from './use-returned-place';

export interface Column<Row> {
  readonly id: string;
  readonly header: ReactNode;
  readonly cell: (row: Row) => ReactNode;
  /** Least width, px. */
  readonly width: number;
  /** Share of the remaining width; 0 for columns that do not need more. */
  readonly grow?: number;
  readonly isNumeric?: boolean;
  /** Stays in view on a phone, where the other columns scroll sideways under it. */
  readonly isStuck?: boolean;
  readonly sort?: {
    readonly isActive: boolean;
    readonly direction: 'ascending' | 'descending';
    readonly onChoose: () => void;
  };
}

interface DataTableProps<Row> {
  /** What a screen reader calls the table. */
  readonly label: string;
  /** The same array as long as they are the same: rows are drawn again with it. */
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** Puts a box before each row. */
  readonly selection?: Selection<Row>;
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
/** Px. */
const checkWidth = 24;

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, rows, rowKey, selection, totalCount, hasMore = false, onEnd, rowsOf, maxHeight } = props;
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
    // Returns nothing: new browsers return a promise here, which React would take for a cleanup
    // function.
    frame.current?.scrollTo({ top: 0 });
  }, [rowsOf]);
  useReturnedPlace({ frame, table: label, rows, hasMore });
  useKeptPlace({ frame, rows, rowKey, rowHeight, rowsOf });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? -1;
  useEffect(() => {
    if (hasMore && last >= rows.length - rowsAhead) onEnd?.();
  }, [hasMore, last, rows.length, onEnd]);
  const isSelectable = selection !== undefined;
  const { template, minWidth } = useMemo(() => layoutOf(columns, isSelectable), [columns, isSelectable]);
  return (
    // A region that scrolls must be reachable by keyboard.
    <div
      ref={frame}
      className={classes.frame}
      tabIndex={0}
      role="region"
      aria-label={label}
      style={frameStyle(maxHeight)}
    >
      <div
        className={classes.table}
        role="table"
        aria-label={label}
        aria-rowcount={(totalCount ?? rows.length) + 1}
        style={{ minWidth }}
      >
        <HeaderRow {...{ columns, template, selection, rows }} />
        <div role="rowgroup" style={{ position: 'relative', height: virtual.getTotalSize() }}>
          {items.map(({ index, key, start }) => {
            const row = rows[index];
            if (row === undefined) return null;
            return (
              <RowLine
                key={key}
                row={row}
                columns={columns as readonly Column<unknown>[]}
                {...{ index, start, template }}
                check={selection as Selection<unknown> | undefined}
                isSelected={selection?.isSelected(row) ?? false}
              />
            );
          })}
        </div>
      </div>
      {hasMore && <div className={classes.end}>{t('common.loadingMore')}</div>}
    </div>
  );
}

interface HeaderRowProps<Row> extends Pick<DataTableProps<Row>, 'columns' | 'rows' | 'selection'> {
  readonly template: string;
}

function HeaderRow<Row>({ columns, rows, selection, template }: HeaderRowProps<Row>) {
  return (
    <div role="rowgroup" className={classes.header} style={{ display: 'block', padding: 0 }}>
      <div
        role="row"
        aria-rowindex={1}
        className={classes.header}
        style={{ gridTemplateColumns: template, position: 'static' }}
      >
        {selection && (
          <div role="columnheader" className={classes.cell}>
            <SelectionCheck selection={selection} rows={rows} />
          </div>
        )}
        {columns.map((column) => (
          <Header key={column.id} column={column} />
        ))}
      </div>
    </div>
  );
}

interface RowLineProps {
  readonly row: unknown;
  readonly columns: readonly Column<unknown>[];
  readonly index: number;
  /** Px from the top of the first row. */
  readonly start: number;
  readonly template: string;
  readonly check: Selection<unknown> | undefined;
  readonly isSelected: boolean;
}

const RowLine = memo(
  function RowLine({ row, columns, index, start, template, check, isSelected }: RowLineProps) {
    return (
      <div
        role="row"
        aria-rowindex={index + 2}
        className={classes.row}
        data-selected={isSelected || undefined}
        style={{ gridTemplateColumns: template, transform: `translateY(${start}px)` }}
      >
        {check && (
          <div role="cell" className={classes.cell}>
            <RowCheck row={row} check={check} isSelected={isSelected} />
          </div>
        )}
        {columns.map(({ id, cell, isNumeric, isStuck }) => (
          <div
            key={id}
            role="cell"
            className={classes.cell}
            data-numeric={isNumeric || undefined}
            data-stuck={isStuck || undefined}
            onPointerEnter={showWhole}
          >
            {cell(row)}
          </div>
        ))}
      </div>
    );
  },
  // The set of what is selected changes with every box; a row is concerned by its own.
  ({ check: one, ...some }, { check: other, ...others }) =>
    one?.toggle === other?.toggle &&
    (Object.keys(others) as (keyof typeof others)[]).every((name) => some[name] === others[name]),
);

/** Shows a text that is cut as a tooltip. Buttons in a cell have their own. */
function showWhole({ currentTarget: cell }: PointerEvent<HTMLElement>) {
  const isCut = cell.scrollWidth > cell.clientWidth && cell.querySelector('button') === null;
  cell.title = isCut ? cell.innerText : '';
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
            (sort.direction === 'ascending' ? (
              <IconArrowUp size={13} aria-hidden />
            ) : (
              <IconArrowDown size={13} aria-hidden />
            ))}
        </button>
      ) : (
        header
      )}
    </div>
  );
}

/** The grid of a row and the least width of all, px: gaps and the edges' padding are 16 px each. */
function layoutOf<Row>(columns: readonly Column<Row>[], isSelectable: boolean) {
  const widths = columns.map(({ width, grow = 1 }) => (grow === 0 ? `${width}px` : `minmax(${width}px, ${grow}fr)`));
  return {
    template: [...(isSelectable ? [`${checkWidth}px`] : []), ...widths].join(' '),
    minWidth: columns.reduce((sum, { width }) => sum + width + 16, 32) + (isSelectable ? checkWidth + 16 : 0),
  };
}

function keyAt<Row>(rows: readonly Row[], index: number, rowKey: (row: Row) => string): string | number {
  const row = rows[index];
  return row === undefined ? index : rowKey(row);
}

function frameStyle(maxHeight: string | undefined): CSSProperties | undefined {
  return maxHeight === undefined ? undefined : { maxHeight };
}
