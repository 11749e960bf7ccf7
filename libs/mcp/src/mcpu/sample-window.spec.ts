import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { freshSamples } from './sample-window.js';

/** The content of a ring of `size` samples after `taken` samples of the series. */
const ringOf = (series: readonly number[], { taken, size }: { readonly taken: number; readonly size: number }) =>
  series.slice(Math.max(0, taken - size), taken);

describe('freshSamples', () => {
  it('finds exactly the samples that were taken between two answers, for any series', () => {
    const cases = fc.record({
      size: fc.integer({ min: 1, max: 30 }),
      before: fc.integer({ min: 1, max: 60 }),
      between: fc.nat(29),
    });
    // Few different values, so that windows overlap in several ways.
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

  it('never returns a sample twice if all values differ, even with a wrong clock', () => {
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

  it('reports a gap if the ring was overwritten in between', () => {
    expect(freshSamples([1, 2, 3], [7, 8, 9], 6)).toEqual({ values: [7, 8, 9], isGap: true });
    expect(freshSamples([], [7, 8], 2)).toEqual({ values: [7, 8], isGap: false });
    expect(freshSamples([4, 4, 4], [4, 4, 4], 2)).toEqual({ values: [4, 4], isGap: false });
  });
});
