import { describe, expect, it } from 'vitest';
import { isRateAbove, isRateAboveBound, rateInterval } from './poisson.js';

describe('the interval of a rate', () => {
  // Garwood's intervals, as tables of them have it.
  it.each([
    [0, 0, 3.689],
    [1, 0.0253, 5.572],
    [3, 0.6187, 8.767],
    [10, 4.795, 18.39],
    [100, 81.36, 121.6],
  ])('of %d events', (events, low, high) => {
    const interval = rateInterval({ events, hours: 1 });
    expect(interval?.low).toBeCloseTo(low, 2);
    expect((interval?.high ?? 0) / high).toBeCloseTo(1, 3);
  });

  it.each([
    [200, 173.24088268, 229.72198167],
    [201, 174.1716454, 230.79105016],
    [1_000, 938.97301841, 1_063.95213602],
    [5_000, 4_862.35918869, 5_140.54894853],
  ])('of %d events is within 0.001 %% of the exact one', (events, low, high) => {
    const interval = rateInterval({ events, hours: 1 });
    expect(Math.abs((interval?.low ?? 0) / low - 1)).toBeLessThan(1e-5);
    expect(Math.abs((interval?.high ?? 0) / high - 1)).toBeLessThan(1e-5);
  });

  it('takes no longer for more events', () => {
    const { low = 0, high = 0 } = rateInterval({ events: 1e12, hours: 1 }) ?? {};
    expect([low < 1e12, high > 1e12]).toEqual([true, true]);
  });

  it('is unknown without exposure', () => {
    expect(rateInterval({ events: 3, hours: 0 })).toBeUndefined();
  });
});

describe('the comparison of two rates', () => {
  it.each([
    ['0 of 3 against 1 of 500', { events: 0, hours: 3 }, { events: 1, hours: 500 }, false],
    ['1 of 3 against 1 of 500', { events: 1, hours: 3 }, { events: 1, hours: 500 }, true],
    ['1 of 30 against 3 of 500', { events: 1, hours: 30 }, { events: 3, hours: 500 }, false],
    ['6 of 10 against 3 of 500', { events: 6, hours: 10 }, { events: 3, hours: 500 }, true],
    ['events without a baseline', { events: 5, hours: 1 }, { events: 0, hours: 0 }, false],
  ])('of %s', (_title, one, other, expected) => {
    expect(isRateAbove(one, other)).toBe(expected);
  });

  it('tolerates a multiple of the second one', () => {
    expect(isRateAbove({ events: 25, hours: 1_000 }, { events: 10, hours: 1_000 })).toBe(true);
    expect(isRateAbove({ events: 25, hours: 1_000 }, { events: 10, hours: 1_000 }, 2)).toBe(false);
  });

  // The smallest counts that are significant, by the exact binomial distribution.
  it.each([
    [1_045, 2_000, 1],
    [543, 5_000, 9],
    [4_542, 5_000, 1 / 9],
  ])('finds that %d of %d events are too many', (events, all, hours) => {
    const other = (count: number) => ({ events: all - count, hours });
    expect(isRateAbove({ events, hours: 1 }, other(events))).toBe(true);
    expect(isRateAbove({ events: events - 1, hours: 1 }, other(events - 1))).toBe(false);
  });

  it('takes no longer for more events', () => {
    expect(isRateAbove({ events: 1.01e12, hours: 1 }, { events: 1e12, hours: 1 })).toBe(true);
    expect(isRateAbove({ events: 2, hours: 1 }, { events: 1e12, hours: 1e13 })).toBe(true);
    expect(isRateAbove({ events: 1e12, hours: 1 }, { events: 2, hours: 1 })).toBe(true);
    expect(isRateAboveBound({ events: 1e12, hours: 1 }, 1e12)).toBe(false);
  });

  it('against a known rate asks for evidence, too', () => {
    expect(isRateAboveBound({ events: 1, hours: 100 }, 0.005)).toBe(false);
    expect(isRateAboveBound({ events: 4, hours: 100 }, 0.005)).toBe(true);
  });
});
