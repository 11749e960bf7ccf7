import { describe, expect, it } from 'vitest';
import { linesMax, parseMeasurementSearch } from './measurement-search';

describe('the address of the page of measurements', () => {
  it('carries path, period, split and what is compared', () => {
    const search = { path: 'samples:soil', period: '7d', split: 'FIRMWARE', of: ['1.0.0', '1.1.0'] };
    expect(parseMeasurementSearch(search)).toEqual(search);
  });

  it('carries that nothing is compared, which is not the same as no choice', () => {
    expect(parseMeasurementSearch({ split: 'MODEL', of: [] })).toEqual({ split: 'MODEL', of: [] });
    expect(parseMeasurementSearch({ split: 'MODEL', of: [3] })).toEqual({ split: 'MODEL' });
  });

  it('loses what is unknown, and lines beyond the maximum', () => {
    const many = Array.from({ length: linesMax + 3 }, (_, index) => `v${index}`);
    expect(parseMeasurementSearch({ path: 7, period: '1y', split: 'COLOUR', of: [3, ...many] })).toEqual({
      of: many.slice(0, linesMax),
    });
    expect(parseMeasurementSearch({ of: 'v1' })).toEqual({});
  });
});
