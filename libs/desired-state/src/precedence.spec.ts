import { describe, expect, it } from 'vitest';
import { wantedOf } from './entry.suite.js';
import type { Wanted } from './entry.js';
import { blocksOf } from './precedence.js';
import { windowsOverlap } from './windows-overlap.js';

const noon = Date.parse('2026-06-10T12:00:00Z');
const unsupported = { code: 'TOOL_UNKNOWN', message: 'no such tool' } as const;

function blocks(...wanted: readonly (Partial<Wanted> & { readonly isUnsupported?: boolean })[]) {
  const contenders = wanted.map(({ isUnsupported, ...each }) => ({
    wanted: wantedOf(each),
    unsupported: isUnsupported === true ? unsupported : undefined,
  }));
  return Object.fromEntries([...blocksOf(contenders, 'UTC', noon)].map(([id, { state, by }]) => [id, [state, ...by]]));
}

describe('of desired states that set the same property', () => {
  it('the highest one applies', () => {
    expect(blocks({ id: 'a', priority: 1 }, { id: 'b', priority: 2, desired: 50 }, { id: 'c', priority: -1 })).toEqual({
      a: ['OVERRIDDEN', 'b'],
      c: ['OVERRIDDEN', 'b'],
    });
  });

  it('two of equal priority are in conflict if they want other values, and below them nothing applies', () => {
    expect(blocks({ id: 'a' }, { id: 'b', desired: 50 }, { id: 'c', priority: -1 })).toEqual({
      a: ['CONFLICT', 'b'],
      b: ['CONFLICT', 'a'],
      c: ['OVERRIDDEN', 'a', 'b'],
    });
    expect(blocks({ id: 'a' }, { id: 'b', desired: '30' })).toEqual({});
  });

  it('one outside its window, or that the device does not support, is in no way', () => {
    const window = { from: '22:00', to: '07:00' };
    expect(blocks({ id: 'a' }, { id: 'b', priority: 1, desired: 5, window })).toEqual({ b: ['OUT_OF_WINDOW'] });
    expect(blocks({ id: 'a' }, { id: 'b', priority: 1, desired: 5, isUnsupported: true })).toEqual({
      b: ['UNSUPPORTED'],
    });
  });
});

describe('a window', () => {
  // Clocks change in Berlin on 29 March and 25 October 2026, in New York on 8 March and 1 November,
  // and in Sydney, where it is spring in October, on 5 April and 4 October.
  it.each<[string, string, string, boolean]>([
    ['Europe/Berlin', '2026-03-28T23:30:00Z', '02:30-05:00', false],
    ['Europe/Berlin', '2026-03-29T01:00:00Z', '02:30-05:00', true],
    ['Europe/Berlin', '2026-03-29T03:00:00Z', '02:30-05:00', false],
    ['Europe/Berlin', '2026-10-25T00:30:00Z', '22:00-02:30', false],
    ['Europe/Berlin', '2026-10-25T00:29:59Z', '22:00-02:30', true],
    ['America/New_York', '2026-03-08T07:00:00Z', '02:30-05:00', true],
    ['America/New_York', '2026-03-08T06:59:59Z', '02:30-05:00', false],
    ['America/New_York', '2026-11-01T06:30:00Z', '01:00-03:00', true],
    ['Australia/Sydney', '2026-04-04T17:59:59Z', '22:00-04:00', true],
    ['Australia/Sydney', '2026-04-04T18:00:00Z', '22:00-04:00', false],
    ['Australia/Sydney', '2026-10-03T15:59:59Z', '02:30-05:00', false],
    ['Australia/Sydney', '2026-10-03T16:00:00Z', '02:30-05:00', true],
    ['Australia/Sydney', '2026-10-03T18:00:00Z', '02:30-05:00', false],
    ['Asia/Kathmandu', '2026-06-10T16:15:00Z', '22:00-07:00', true],
    ['Asia/Kathmandu', '2026-06-10T16:14:59Z', '22:00-07:00', false],
  ])('in the zone of the device %s at %s: %s is open: %s', (zone, at, hours, isOpen) => {
    const [from = '', to = ''] = hours.split('-');
    const contender = { wanted: wantedOf({ window: { from, to } }), unsupported: undefined };
    const block = blocksOf([contender], zone, Date.parse(at)).get('a');
    expect(block?.state).toBe(isOpen ? undefined : 'OUT_OF_WINDOW');
  });

  it('has its own zone where it names one', () => {
    const window = { from: '14:00', to: '15:00', zone: 'Europe/Berlin' };
    expect(blocks({ window })).toEqual({});
    expect(blocks({ window: { ...window, zone: 'UTC' } })).toEqual({ a: ['OUT_OF_WINDOW'] });
  });

  it('may share no time with another one', () => {
    const [night, day] = [
      { from: '22:00', to: '07:00' },
      { from: '07:00', to: '22:00' },
    ];
    expect(windowsOverlap(night, day, 'Europe/Berlin', noon)).toBe(false);
    expect(windowsOverlap(night, { from: '06:59', to: '08:00' }, 'Europe/Berlin', noon)).toBe(true);
    const [monday, tuesday] = [
      { from: '09:00', to: '10:00', days: [1] },
      { from: '09:00', to: '10:00', days: [2] },
    ];
    expect(windowsOverlap(monday, tuesday, 'UTC', noon)).toBe(false);
    expect(windowsOverlap(monday, { ...tuesday, days: [1, 2] }, 'UTC', noon)).toBe(true);
    expect(windowsOverlap(undefined, night, 'UTC', noon)).toBe(true);
  });
});
