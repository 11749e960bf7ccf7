import { describe, expect, it } from 'vitest';
import { filterOf, parseDeviceSearch, stayingFilterOf } from './device-search';

describe('the filter in the address of Devices', () => {
  it('is what DeviceFilter calls its conditions', () => {
    const search = parseDeviceSearch({ search: 'lobby', presence: 'ONLINE', tags: ['a', 'b'], toolsStale: true, orderBy: 'NAME_ASC' });
    expect(filterOf(search)).toEqual({ search: 'lobby', presence: 'ONLINE', tags: ['a', 'b'], toolsStale: true });
  });

  it('leaves out what it does not understand', () => {
    expect(
      parseDeviceSearch({ presence: 'ASLEEP', tags: [1.5, {}, ''], orderBy: 'RANDOM', search: ' ', toolsStale: 'yes', more: 1 }),
    ).toEqual({
      tags: ['1.5'],
    });
  });

  it('takes a version for text, and one tag for a list', () => {
    expect(parseDeviceSearch({ firmwareVersion: 2.1, tags: 'lobby' })).toEqual({ firmwareVersion: '2.1', tags: ['lobby'] });
  });

  it('is no filter without conditions', () => {
    expect(filterOf(parseDeviceSearch({ orderBy: 'ID_ASC' }))).toBeUndefined();
  });

  it('is watched by what stays: a device that goes offline is still told of', () => {
    expect(stayingFilterOf({ presence: 'ONLINE', model: 'lamp' })).toEqual({ model: 'lamp' });
    expect(stayingFilterOf({ presence: 'ONLINE' })).toBeUndefined();
  });
});
