/**
 * Rows of Prisma as stores return them: times in ms since the Unix epoch, and undefined for NULL.
 */

type Plain<Value> = Value extends Date | bigint ? number : Value extends null ? undefined : Value;

export type PlainRow<Row> = { readonly [Column in keyof Row]: Plain<Row[Column]> };

export function plainRow<Row extends object>(row: Row): PlainRow<Row> {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [column, plain(value)])) as PlainRow<Row>;
}

function plain(value: unknown): unknown {
  if (value instanceof Date) return value.getTime();
  return typeof value === 'bigint' ? Number(value) : (value ?? undefined);
}
