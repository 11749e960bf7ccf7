import { describe, expect, it } from 'vitest';
import { rowsAbove } from './rows-above';

describe('the rows above another one', () => {
  const before = ['e', 'd', 'c', 'b', 'a'];

  it('are those that came on top', () => {
    expect(rowsAbove(before, ['g', 'f', ...before], 2)).toBe(2);
    expect(rowsAbove(before, ['f', 'e', 'd', 'c', 'b'], 2)).toBe(1);
    expect(rowsAbove(before, ['f', ...before], 4)).toBe(1);
  });

  it('are 0 where rows came below', () => {
    expect(rowsAbove(before, [...before, '0'], 2)).toBe(0);
    expect(rowsAbove([], before, 0)).toBe(0);
  });

  it('are 0 where the row itself is gone, or has moved', () => {
    expect(rowsAbove(before, ['f', 'e', 'd', 'b', 'a'], 2)).toBe(0);
    expect(rowsAbove(before, ['c', 'e', 'd', 'b', 'a'], 2)).toBe(0);
    expect(rowsAbove(before, ['e', 'd', 'b', 'a', 'c'], 2)).toBe(0);
  });
});
