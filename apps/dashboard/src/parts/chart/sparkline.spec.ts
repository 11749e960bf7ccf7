import { describe, expect, it } from 'vitest';
import { sparkline } from './sparkline';

describe('a sparkline', () => {
  it('goes from the lower left to the upper right for a rising value', () => {
    const points = [0, 1, 2].map((n) => ({ at: n * 1_000, value: n }));
    expect(sparkline(points, 100, 20)).toBe('0.0,19.0 50.0,10.0 100.0,1.0');
  });

  it('is in the middle for a value that stays, and empty without points', () => {
    expect(sparkline([{ at: 5, value: 7 }], 100, 20)).toBe('50.0,10.0');
    expect(sparkline([], 100, 20)).toBe('');
  });
});
