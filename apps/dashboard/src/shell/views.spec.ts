import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toggledView, viewsAmong, viewsMax } from './views';

const groups = ['Lobby', 'Suites', 'Spa', 'Floor 10', 'Floor 9', 'Kitchen', 'Bar'].map((name, index) => ({
  id: `g${index}`,
  name,
}));
const names = (chosen: readonly string[] | undefined) => viewsAmong(groups, chosen).map(({ name }) => name);

describe('the views in the side bar', () => {
  it('are the first groups by name until a person chooses', () => {
    expect(names(undefined)).toEqual(['Bar', 'Floor 9', 'Floor 10', 'Kitchen', 'Lobby']);
    expect(names([])).toEqual([]);
    expect(names(['g1', 'gone'])).toEqual(['Suites']);
  });

  it('begin a choice with what is shown', () => {
    expect(names(toggledView(groups, undefined, 'g0'))).toEqual(['Bar', 'Floor 9', 'Floor 10', 'Kitchen']);
    expect(names(toggledView(groups, undefined, 'g1'))).toContain('Suites');
  });

  it('have a group after it was added, and not after it was taken away', () => {
    const many = Array.from({ length: 40 }, (_, index) => ({ id: `m${index}`, name: `Group ${index}` }));
    const ids = many.map(({ id }) => id);
    fc.assert(
      fc.property(fc.subarray(ids), fc.constantFrom(...ids), (chosen, id) => {
        const before = viewsAmong(many, chosen).some((group) => group.id === id);
        const after = viewsAmong(many, toggledView(many, chosen, id));
        expect(after.some((group) => group.id === id)).toBe(!before);
        expect(after.length).toBeLessThanOrEqual(viewsMax);
      }),
    );
  });
});
