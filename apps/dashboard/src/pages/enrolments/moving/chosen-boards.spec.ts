import { describe, expect, it } from 'vitest';
import { moveInBatches, toggled, toggledAll, without } from './chosen-boards';

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

describe('the move of more boards than one request takes', () => {
  const chosen = new Set(Array.from({ length: 1_200 }, (_, index) => `board ${index}`));

  it('moves all of them, 500 at a time', async () => {
    const sizes: number[] = [];
    const moved = await moveInBatches(chosen, async ({ length }) => sizes.push(length) > 0);
    expect(sizes).toEqual([500, 500, 200]);
    expect(without(chosen, moved)).toEqual(new Set());
  });

  it('ends at a refusal, and leaves the boards selected that were not moved', async () => {
    let count = 0;
    const moved = await moveInBatches(chosen, async () => ++count < 2);
    expect(moved).toEqual([...chosen].slice(0, 500));
    expect([...without(chosen, moved)]).toEqual([...chosen].slice(500));
    expect(await moveInBatches(chosen, async () => false)).toEqual([]);
  });
});
