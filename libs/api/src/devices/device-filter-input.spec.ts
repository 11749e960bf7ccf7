import { describe, expect, it } from 'vitest';
import { parseDeviceFilter } from './device-filter-input.js';
import type { DeviceFilter } from '../generated/schema-types.js';

describe('parseDeviceFilter', () => {
  it('takes null for "not given", on every level', () => {
    expect(
      parseDeviceFilter({ presence: null, model: 'esp-box', any: [{ tags: null, hasTool: 'self.reboot' }], not: null }),
    ).toEqual({
      model: 'esp-box',
      any: [{ hasTool: 'self.reboot' }],
    });
  });

  it('keeps false, which is a condition, but not `all: false`, which selects nothing', () => {
    expect(parseDeviceFilter({ toolsStale: false, all: false })).toEqual({ toolsStale: false });
  });

  it('is undefined where there is no filter', () => {
    expect(parseDeviceFilter(null)).toBeUndefined();
    expect(parseDeviceFilter(undefined)).toBeUndefined();
  });

  it('refuses more levels than the database should join', () => {
    const nested = (levels: number): DeviceFilter => (levels === 1 ? { all: true } : { not: nested(levels - 1) });
    expect(parseDeviceFilter(nested(5))).toBeDefined();
    expect(() => parseDeviceFilter(nested(6))).toThrow('at most 5 levels');
  });

  it('refuses more filters than one statement should compare', () => {
    const filters = (count: number): DeviceFilter[] => Array.from({ length: count }, () => ({ model: 'esp-box' }));
    const nested = (own: number) => ({ any: Array.from({ length: 20 }, () => ({ not: { any: filters(own) } })) });
    expect(parseDeviceFilter(nested(48))).toBeDefined();
    expect(() => parseDeviceFilter(nested(49))).toThrow('at most 1000 filters');
  });

  it('refuses a version without a number, before which there is nothing', () => {
    expect(() => parseDeviceFilter({ any: [{ firmwareBefore: 'banana' }] })).toThrow('such as 2.0.3, not "banana"');
    expect(parseDeviceFilter({ firmwareBefore: 'v2.1-rc1' })).toEqual({ firmwareBefore: 'v2.1-rc1' });
  });

  it('refuses a list that is too long, and names it', () => {
    expect(() => parseDeviceFilter({ ids: Array.from({ length: 1_001 }, String) })).toThrow(
      '"ids" of a device filter takes at most 1000',
    );
  });
});
