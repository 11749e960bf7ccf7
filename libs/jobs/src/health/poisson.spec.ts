import { describe, expect, it } from 'vitest';
import { isRateAbove, isRateAboveBound, rateInterval } from './poisson.js';

describe('the exact interval of a rate', () => {
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

  it('against a known rate asks for evidence, too', () => {
    expect(isRateAboveBound({ events: 1, hours: 100 }, 0.005)).toBe(false);
    expect(isRateAboveBound({ events: 4, hours: 100 }, 0.005)).toBe(true);
  });
});
