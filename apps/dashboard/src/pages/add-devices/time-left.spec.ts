import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { timeLeft } from './time-left';

const seconds = { day: 86_400, hour: 3_600, minute: 60, second: 1 } as const;

describe('the time that is left', () => {
  it.each([
    [
      7 * 86_400_000,
      [
        ['day', 7],
        ['hour', 0],
      ],
    ],
    [
      90_061_000,
      [
        ['day', 1],
        ['hour', 1],
      ],
    ],
    [
      3_599_000,
      [
        ['minute', 59],
        ['second', 59],
      ],
    ],
    [900, [['second', 1]]],
    [0, []],
    [-5_000, []],
  ])('of %i ms has its two largest units', (ms, parts) => {
    expect(timeLeft(ms, 0)).toEqual(parts);
  });

  it('never says more than there is, and less than one of its smaller unit is missing', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 400 * 86_400 }), (left) => {
        const parts = timeLeft(left * 1_000, 0);
        const said = parts.reduce((sum, [unit, count]) => sum + count * seconds[unit], 0);
        const smallest = seconds[parts.at(-1)?.[0] ?? 'second'];
        expect(left - said).toBeGreaterThanOrEqual(0);
        expect(left - said).toBeLessThan(smallest);
      }),
    );
  });
});
