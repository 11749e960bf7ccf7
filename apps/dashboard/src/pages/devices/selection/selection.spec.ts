import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  allDevices,
  countOf,
  type DeviceSelection,
  filterOfSelection,
  isSelected,
  isWithinLimit,
  noDevices,
  rangeOf,
  withDevices,
} from './selection';

const listed = ['a', 'b', 'c', 'd', 'e'];
const act = fc.record({ devices: fc.subarray(listed), areSelected: fc.boolean() });
const start = fc.constantFrom(noDevices, allDevices);

function after(from: DeviceSelection, acts: readonly { devices: string[]; areSelected: boolean }[]): DeviceSelection {
  return acts.reduce((now, { devices, areSelected }) => withDevices(now, devices, areSelected), from);
}

describe('a selection of devices', () => {
  it('has the devices of the last act on each, and counts them', () => {
    fc.assert(
      fc.property(start, fc.array(act), (from, acts) => {
        const selection = after(from, acts);
        const expected = listed.filter((id) => {
          const last = acts.findLast(({ devices }) => devices.includes(id));
          return last?.areSelected ?? from.isAll;
        });
        expect(listed.filter((id) => isSelected(selection, id))).toEqual(expected);
        expect(countOf(selection, listed.length)).toBe(expected.length);
      }),
    );
  });

  it('is one range with Shift, in either direction', () => {
    expect(rangeOf(listed, 'b', 'd')).toEqual(['b', 'c', 'd']);
    expect(rangeOf(listed, 'd', 'b')).toEqual(['b', 'c', 'd']);
    expect(rangeOf(listed, 'a', 'a')).toEqual(['a']);
    // The first device of the range has left the list.
    expect(rangeOf(listed, 'gone', 'b')).toEqual(['b']);
    expect(rangeOf(listed, undefined, 'b')).toEqual(['b']);
  });

  it('is a filter of ids, or the filter of the list without some', () => {
    const some = withDevices(noDevices, ['a', 'b'], true);
    const but = withDevices(allDevices, ['c'], false);
    expect(filterOfSelection(some, { model: 'otto' })).toEqual({ ids: ['a', 'b'] });
    expect(filterOfSelection(allDevices, { model: 'otto' })).toEqual({ model: 'otto' });
    expect(filterOfSelection(allDevices, {})).toEqual({ all: true });
    expect(filterOfSelection(but, {})).toEqual({ not: { any: [{ ids: ['c'] }] } });
    expect(filterOfSelection(but, { model: 'otto', not: { tags: ['x'] } })).toEqual({
      model: 'otto',
      not: { any: [{ tags: ['x'] }, { ids: ['c'] }] },
    });
  });

  it('has as many ids as the hub takes', () => {
    const ids = Array.from({ length: 1_001 }, (_, index) => `d${index}`);
    expect(isWithinLimit(withDevices(noDevices, ids.slice(1), true))).toBe(true);
    expect(isWithinLimit(withDevices(noDevices, ids, true))).toBe(false);
  });
});
