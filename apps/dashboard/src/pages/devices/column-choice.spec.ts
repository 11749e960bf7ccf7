import { expect, it } from 'vitest';
import { columnsFor } from './column-choice';

it('offers the column of desired states only to those who may see them', () => {
  expect(columnsFor(true)).toContain('desired');
  expect(columnsFor(false)).not.toContain('desired');
  expect(columnsFor(false)).toHaveLength(columnsFor(true).length - 1);
});
