import { describe, expect, it } from 'vitest';
import { defaultGatewayLimits } from '../gateway-limits.js';
import { redialDelayMs } from './redial-delay.js';

describe('redialDelayMs', () => {
  it('begins within five seconds and doubles up to five minutes', () => {
    expect([0, 1, 2, 5, 6, 50].map((failures) => redialDelayMs(defaultGatewayLimits, failures, 1))).toEqual([
      5_000, 10_000, 20_000, 160_000, 300_000, 300_000,
    ]);
  });

  it('spreads boards that were lost together over half of the time', () => {
    expect(redialDelayMs(defaultGatewayLimits, 0, 0)).toBe(2_500);
    expect(redialDelayMs(defaultGatewayLimits, 9, 0)).toBe(150_000);
  });
});
