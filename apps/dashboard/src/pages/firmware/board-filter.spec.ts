import { describe, expect, it } from 'vitest';
import { filterOf } from '../devices/device-search';
import { boardFilter } from './board-filter';

describe('the devices of a roll-out', () => {
  it('have a board of the image', () => {
    expect(filterOf(boardFilter(['esp-box-3']))).toEqual({ model: 'esp-box-3' });
    expect(filterOf(boardFilter(['esp-box-3', 'otto-robot']))).toEqual({
      any: [{ model: 'esp-box-3' }, { model: 'otto-robot' }],
    });
  });

  it('are not chosen yet for an image without a board', () => {
    expect(filterOf(boardFilter([]))).toBeUndefined();
  });
});
