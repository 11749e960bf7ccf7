import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { timeAgo } from './time-ago';

const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000];
const limits = { second: 60, minute: 60, hour: 24, day: 31, month: 12, year: Infinity };

describe('the time since a moment', () => {
  it.each([
    [0, 0, 'second'],
    [-59 * second, -59, 'second'],
    [-59.4 * second, -59, 'second'],
    [-59.6 * second, -1, 'minute'],
    [-30 * minute, -30, 'minute'],
    [-59.4 * minute, -59, 'minute'],
    [-59.6 * minute, -1, 'hour'],
    [-89 * minute, -1, 'hour'],
    [-23.6 * hour, -1, 'day'],
    [-29.6 * day, -30, 'day'],
    [-364 * day, -1, 'year'],
    [59.6 * minute, 1, 'hour'],
  ])('of %d ms has one unit', (ms, count, unit) => {
    expect(timeAgo(ms)).toEqual([count, unit]);
  });

  it('never has as many of a unit as the next larger one is', () => {
    fc.assert(
      fc.property(fc.integer({ min: -800 * day, max: 800 * day }), (ms) => {
        const [count, unit] = timeAgo(ms);
        expect(Math.abs(count)).toBeLessThan(limits[unit]);
      }),
    );
  });
});
