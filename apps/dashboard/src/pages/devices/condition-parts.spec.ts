import { describe, expect, it } from 'vitest';
import { plainPartsOf, withoutExcluded, withoutPart } from './condition-parts';

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

  it('keep the other exclusions when one is removed', () => {
    const two = { not: { any: [{ model: 'a' }, { model: 'b' }] } };
    expect(withoutExcluded(two, 0)).toEqual({ not: { any: [{ model: 'b' }] } });
    expect(withoutExcluded({ not: { model: 'a' } }, 0)).toEqual({ not: undefined });
  });
});
