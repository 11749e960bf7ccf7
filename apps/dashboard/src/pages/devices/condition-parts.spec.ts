import { describe, expect, it } from 'vitest';
import { plainPartsOf, withoutExcluded, withoutPart } from './condition-parts';
import { type DeviceSearch, withCondition } from './device-search';

describe('the conditions of a filter', () => {
  it('are single parts, each tag for itself, without alternatives and exclusions', () => {
    const parts = plainPartsOf({
      model: 'otto',
      presence: undefined,
      tags: ['lobby', 'north'],
      any: [{ model: 'a' }],
      not: { model: 'b' },
    });
    expect(parts).toEqual([
      { name: 'model', value: 'otto' },
      { name: 'tags', value: 'lobby' },
      { name: 'tags', value: 'north' },
    ]);
  });

  it('are removed one by one', () => {
    const search = { model: 'otto', tags: ['lobby', 'north'] };
    expect(withoutPart(search, 'model', 'otto')).toEqual({ model: undefined });
    expect(withoutPart(search, 'tags', 'lobby')).toEqual({ tags: ['north'] });
    expect(withoutPart({ tags: ['lobby'] }, 'tags', 'lobby')).toEqual({ tags: undefined });
  });

  it('are one part where an address has something else than a list', () => {
    const search = { tags: {}, any: 5, not: { any: 7 } } as unknown as DeviceSearch;
    expect(plainPartsOf(search)).toEqual([{ name: 'tags', value: {} }]);
    expect(withoutPart(search, 'tags', search.tags)).toEqual({ tags: undefined });
    expect(withoutExcluded(search, 0)).toEqual({ not: undefined });
    expect(withoutExcluded({ not: null } as unknown as DeviceSearch, 0)).toEqual({ not: undefined });
    expect(withCondition(search, { model: 'a' }, 'any')).toEqual({ any: [5, { model: 'a' }] });
    expect(withCondition(search, { model: 'a' }, 'not')).toEqual({ not: { any: [7, { model: 'a' }] } });
    expect(withCondition(search, { tags: ['a'] }, 'must')).toEqual({ tags: [{}, 'a'] });
  });

  it('keep the other exclusions when one is removed', () => {
    const two = { not: { any: [{ model: 'a' }, { model: 'b' }] } };
    expect(withoutExcluded(two, 0)).toEqual({ not: { any: [{ model: 'b' }] } });
    expect(withoutExcluded({ not: { model: 'a' } }, 0)).toEqual({ not: undefined });
  });
});
