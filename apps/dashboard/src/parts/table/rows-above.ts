/**
 * How many rows came above the row at an index, by their keys. 0 if that row is gone, or if it
 * has moved in the list.
 */
export function rowsAbove(before: readonly string[], after: readonly string[], index: number): number {
  const [row, next] = [before[index], before[index + 1]];
  if (row === undefined) return 0;
  const now = after.indexOf(row);
  const hasMoved = next !== undefined && after[now + 1] !== next;
  return now > index && !hasMoved ? now - index : 0;
}
