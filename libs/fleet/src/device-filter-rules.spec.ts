import type { DeviceFilter } from '@flotilla/registry';
import { describe, expect, it } from 'vitest';
import { refuseFilter } from './device-filter-rules.js';

const path = ['input', 'devices'];

describe('refuseFilter', () => {
  it.each<DeviceFilter>([
    { all: true },
    { toolsStale: false },
    { ids: ['a'] },
    { any: [{ model: 'a' }, { tags: ['b'] }] },
    { not: { presence: 'OFFLINE' } },
    { any: [{ not: { all: true } }] },
  ])('accepts %j', (filter) => {
    expect(refuseFilter(filter, path)).toBeUndefined();
  });

  it.each<[string, DeviceFilter, string, readonly string[]]>([
    ['says nothing', {}, 'INVALID', path],
    ['says nothing with an empty list', { tags: [] }, 'INVALID', path],
    ['says nothing with an empty search', { search: '' }, 'INVALID', path],
    ['says nothing further inside', { any: [{ model: 'a' }, {}] }, 'INVALID', [...path, 'any', '1']],
    ['has an empty not, which would select all or no devices', { not: {} }, 'INVALID', [...path, 'not']],
    ['has no alternatives', { any: [] }, 'INVALID', [...path, 'any']],
    ['says all: false', { all: false, model: 'a' }, 'INVALID', [...path, 'all']],
    ['lists too many ids', { ids: Array.from({ length: 1_001 }, String) }, 'LIMIT_EXCEEDED', [...path, 'ids']],
    [
      'lists too many alternatives',
      { any: Array.from({ length: 51 }, () => ({ model: 'a' })) },
      'LIMIT_EXCEEDED',
      [...path, 'any'],
    ],
  ])('refuses one that %s', (_, filter, code, at) => {
    expect(refuseFilter(filter, path)).toMatchObject({ code, path: at });
  });

  it('refuses endless nesting', () => {
    let filter: DeviceFilter = { all: true };
    for (let level = 0; level < 6; level += 1) filter = { not: filter };
    expect(refuseFilter(filter, path)?.code).toBe('LIMIT_EXCEEDED');
  });
});
