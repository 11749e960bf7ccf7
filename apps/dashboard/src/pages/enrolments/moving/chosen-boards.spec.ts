import { describe, expect, it } from 'vitest';
import { toggled, toggledAll } from './chosen-boards';

describe('selected boards', () => {
  it('change one by one', () => {
    expect(toggled(new Set(['a']), 'b')).toEqual(new Set(['a', 'b']));
    expect(toggled(new Set(['a', 'b']), 'a')).toEqual(new Set(['b']));
  });

  it('stay selected where fewer rows are shown, until none is selected', () => {
    const chosen = new Set(['a', 'b', 'c']);
    expect(toggledAll(chosen, ['a', 'd'], true)).toEqual(new Set(['a', 'b', 'c', 'd']));
    expect(toggledAll(chosen, ['a'], false)).toEqual(new Set());
  });
});
