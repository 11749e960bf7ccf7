import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wavesMax } from '../job-limits.js';
import { planWaves } from './plan-waves.js';
import type { WaveSpec } from './wave.js';

const guard = { gate: 'AUTO', successThreshold: 0.95, soakSeconds: 0 } as const;
const anySpec: fc.Arbitrary<WaveSpec> = fc.oneof(
  fc.double({ min: 0.001, max: 100, noNaN: true }).map((percent) => ({ ...guard, percent })),
  fc.integer({ min: 1, max: 1_000 }).map((count) => ({ ...guard, count })),
);
const anySpecs = fc.array(anySpec, { minLength: 1, maxLength: wavesMax });

const sizes = (total: number, ...specs: readonly ({ readonly percent: number } | { readonly count: number })[]) =>
  planWaves(
    total,
    specs.map((spec) => ({ ...guard, ...spec })),
  ).map(({ size }) => size);

describe('planWaves', () => {
  it.each([
    ['a canary by count, and the rest', sizes(100, { count: 5 }), [5, 95]],
    ['percentages from the beginning', sizes(1_000, { percent: 1 }, { percent: 10 }, { percent: 100 }), [10, 90, 900]],
    ['a fraction of a device counts as one', sizes(10, { percent: 1 }), [1, 9]],
    ['no rounding error makes a device more', sizes(100_000, { percent: 0.07 }), [70, 99_930]],
    ['count and percentage mixed', sizes(100, { count: 5 }, { percent: 50 }), [5, 45, 50]],
    ['waves that would be empty are left out', sizes(3, { count: 5 }, { percent: 50 }, { percent: 100 }), [3]],
    ['no target, no wave', sizes(0, { count: 5 }), []],
    ['nothing asked for', sizes(10), []],
  ])('%s', (_, planned, expected) => {
    expect(planned).toEqual(expected);
  });

  it('puts every target in exactly one wave, in at most fifty waves numbered from 1, none of them empty', () => {
    fc.assert(
      fc.property(fc.nat(200_000), anySpecs, (total, specs) => {
        const waves = planWaves(total, specs);
        expect(waves.reduce((sum, { size }) => sum + size, 0)).toBe(total);
        expect(waves.length).toBeLessThanOrEqual(wavesMax);
        expect(waves.map(({ number }) => number)).toEqual(waves.map((_, index) => index + 1));
        expect(waves.every(({ size }) => size > 0)).toBe(true);
      }),
    );
  });
});
