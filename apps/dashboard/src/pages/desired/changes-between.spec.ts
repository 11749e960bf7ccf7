/** The diff of two edits names each leaf that changed, and nothing else. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changesBetween } from './changes-between';

describe('changesBetween', () => {
  it('names leaves with both values', () => {
    const before = { name: 'Quiet', arguments: { volume: 20 }, window: null, devices: { tags: ['shop'] } };
    const after = {
      name: 'Quiet',
      arguments: { volume: 30 },
      window: { from: '22:00' },
      devices: { tags: ['shop', 'a'] },
    };
    expect(changesBetween(before, after)).toEqual([
      { path: 'arguments.volume', before: 20, after: 30 },
      { path: 'window', before: null, after: { from: '22:00' } },
      { path: 'devices.tags', before: ['shop'], after: ['shop', 'a'] },
    ]);
  });

  it('knows members that came and went', () => {
    expect(changesBetween({ a: 1 }, { b: 2 })).toEqual([
      { path: 'a', before: 1, after: undefined },
      { path: 'b', before: undefined, after: 2 },
    ]);
  });

  it('finds nothing between equal values, and something between others', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        expect(changesBetween(one, structuredClone(one))).toEqual([]);
        const isSame = JSON.stringify(one) === JSON.stringify(other);
        if (!isSame && (typeof one !== 'object' || typeof other !== 'object'))
          expect(changesBetween(one, other)).not.toEqual([]);
      }),
    );
  });
});
