import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { freshSamples } from './sample-window.js';

/** The ring of `size` as it is after `taken` samples of the series. */
const ringOf = (series: readonly number[], { taken, size }: { readonly taken: number; readonly size: number }) =>
  series.slice(Math.max(0, taken - size), taken);

describe('freshSamples', () => {
  it('finds in the second answer exactly what was sampled between, whatever the series', () => {
    const cases = fc.record({
      size: fc.integer({ min: 1, max: 30 }),
      before: fc.integer({ min: 1, max: 60 }),
      between: fc.nat(29),
    });
    // Few different values, so that windows overlap in more than one way.
    const seriesOf = fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 90, maxLength: 90 });
    fc.assert(
      fc.property(cases, seriesOf, ({ size, before, between }, series) => {
        fc.pre(between < size);
        const older = ringOf(series, { taken: before, size });
        const newer = ringOf(series, { taken: before + between, size });
        expect(freshSamples(older, newer, between)).toEqual({
          values: series.slice(before, before + between),
          isGap: false,
        });
      }),
    );
  });

  it('never gives a sample twice where each has a value of its own, however wrong the clock', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(12), { minLength: 1, maxLength: 20 }), fc.nat(100), (steps, expected) => {
        const series = Array.from({ length: 400 }, (_, at) => at);
        const seen: number[] = [];
        let older: readonly number[] = [];
        let taken = 5;
        for (const step of steps) {
          const newer = ringOf(series, { taken: (taken += step), size: 15 });
          seen.push(...freshSamples(older, newer, expected).values);
          older = newer;
        }
        expect(seen).toEqual([...new Set(seen)]);
      }),
    );
  });

  it('says so when the ring has been overwritten meanwhile', () => {
    expect(freshSamples([1, 2, 3], [7, 8, 9], 6)).toEqual({ values: [7, 8, 9], isGap: true });
    expect(freshSamples([], [7, 8], 2)).toEqual({ values: [7, 8], isGap: false });
    expect(freshSamples([4, 4, 4], [4, 4, 4], 2)).toEqual({ values: [4, 4], isGap: false });
  });
});
