import { describe, expect, it } from 'vitest';
import { filterOf, hindranceToSave, isForListsOnly, parseDeviceSearch, withCondition } from './device-search';

describe('the filter in the address of Devices', () => {
  it('is what DeviceFilter calls its conditions', () => {
    const search = parseDeviceSearch({
      search: 'lobby',
      presence: 'ONLINE',
      tags: ['a', 'b'],
      toolsStale: true,
      orderBy: 'NAME_ASC',
    });
    expect(filterOf(search)).toEqual({ search: 'lobby', presence: 'ONLINE', tags: ['a', 'b'], toolsStale: true });
  });

  it('leaves out what it does not understand', () => {
    expect(
      parseDeviceSearch({
        presence: 'ASLEEP',
        tags: [1.5, {}, ''],
        orderBy: 'RANDOM',
        search: ' ',
        toolsStale: 'yes',
        more: 1,
      }),
    ).toEqual({
      tags: ['1.5'],
    });
  });

  it('takes a version for text, and one tag for a list', () => {
    expect(parseDeviceSearch({ firmwareVersion: 2.1, tags: 'lobby' })).toEqual({
      firmwareVersion: '2.1',
      tags: ['lobby'],
    });
  });

  it('is no filter without conditions', () => {
    expect(filterOf(parseDeviceSearch({ orderBy: 'ID_ASC' }))).toBeUndefined();
  });
});

describe('conditions within conditions', () => {
  const search = parseDeviceSearch({
    model: 'lamp',
    any: [{ tags: ['a'] }, { search: 'b', colour: 'red' }, {}],
    not: { any: [{ model: 'fan' }] },
  });

  it('are read from the address as deep as the hub takes them', () => {
    expect(filterOf(search)).toEqual({
      model: 'lamp',
      any: [{ tags: ['a'] }, { search: 'b' }],
      not: { any: [{ model: 'fan' }] },
    });
    const deep = { not: { not: { not: { not: { model: 'four' } } } } };
    expect(filterOf(parseDeviceSearch(deep))).toEqual(deep);
    expect(filterOf(parseDeviceSearch({ not: deep }))).toBeUndefined();
  });

  it('are added to what must hold, what must not, and what is enough', () => {
    expect(withCondition({ tags: ['a'] }, { tags: ['b'] }, 'must')).toEqual({ tags: ['a', 'b'] });
    expect(withCondition({ model: 'lamp' }, { model: 'fan' }, 'must')).toEqual({ model: 'fan' });
    expect(withCondition(search, { model: 'oven' }, 'not')).toEqual({
      not: { any: [{ model: 'fan' }, { model: 'oven' }] },
    });
    expect(withCondition({ not: { model: 'fan' } }, { tags: ['c'] }, 'not')).toEqual({
      not: { any: [{ model: 'fan' }, { tags: ['c'] }] },
    });
    expect(withCondition(search, { tags: ['c'] }, 'any')).toEqual({
      any: [{ tags: ['a'] }, { search: 'b' }, { tags: ['c'] }],
    });
  });
});

describe('a filter that is only for lists', () => {
  it('asks what is out of sync, at any depth', () => {
    expect(isForListsOnly({ outOfSync: true, model: 'lamp' })).toBe(true);
    expect(isForListsOnly({ not: { any: [{ model: 'lamp' }, { outOfSync: true }] } })).toBe(true);
    expect(isForListsOnly({ any: [{ not: { outOfSync: false } }] })).toBe(true);
  });

  it('is no other one, also not one that the address has wrong', () => {
    expect(isForListsOnly({})).toBe(false);
    expect(isForListsOnly({ toolsStale: true, any: [{ model: 'lamp' }], not: { tags: ['a'] } })).toBe(false);
    expect(isForListsOnly({ not: 'x' } as never)).toBe(false);
  });
});

describe('a filter that is saved as a group', () => {
  it('is not empty, has no group, and does not change with each comparison', () => {
    expect(hindranceToSave({ model: 'lamp' })).toBeUndefined();
    expect(hindranceToSave({})).toBe('groupNeedsFilter');
    expect(hindranceToSave({ model: 'lamp', groupId: '1' })).toBe('groupNeedsFilter');
    expect(hindranceToSave({ outOfSync: false })).toBe('groupNotOutOfSync');
  });
});
