import { describe, expect, it } from 'vitest';
import { layOut, type TimeSeries } from './time-chart-layout';

const minute = (count: number) => new Date(Date.UTC(2026, 10, 21, 12, count)).toISOString();
const series = (name: string, values: readonly number[]): TimeSeries => ({
  name,
  token: 'accent',
  points: values.map((value, index) => [minute(index), value] as const),
});
const space = { width: 458, height: 136, isStacked: false };

describe('the layout of a time chart', () => {
  it('begins at zero and ends at a round number above all values', () => {
    expect(layOut([series('a', [3, 17, 9])], space)?.valueTicks).toEqual([0, 5, 10, 15, 20]);
    expect(layOut([series('a', [0, 0])], space)?.valueTicks).toEqual([0, 1]);
    expect(layOut([series('a', [100_000])], space)?.valueTicks.at(-1)).toBe(100_000);
  });

  it.each([9, 10])('has ticks for whole counts up to %i', (most) => {
    expect(layOut([series('a', [most])], space)?.valueTicks).toEqual([0, 5, 10]);
  });

  it('holds a value until the next one', () => {
    expect(layOut([series('a', [1, 2])], space)?.shapes[0]?.line).toBe('M44.0,60.0L444.0,60.0L444.0,10.0');
  });

  it('puts stacked areas upon each other', () => {
    const [lower, upper] =
      layOut([series('a', [1, 1]), series('b', [1, 1])], { ...space, isStacked: true })?.shapes ?? [];
    expect(lower?.area).toBe('M44.0,60.0L444.0,60.0L444.0,110.0L44.0,110.0Z');
    expect(upper?.area).toBe('M44.0,10.0L444.0,10.0L444.0,60.0L44.0,60.0Z');
  });

  it('finds the moment next to a place', () => {
    const layout = layOut([series('a', [1, 2, 3])], space);
    expect([0, 200, 260, 440].map((place) => layout?.indexAt(place))).toEqual([0, 1, 1, 2]);
  });

  it('leaves room for the last label of the time axis', () => {
    const layout = layOut([series('a', [1, 2, 3])], space);
    expect(layout?.labelX(Date.parse(minute(1)))).toBe(244);
    expect(layout?.labelX(Date.parse(minute(2)))).toBe(458 - 26);
  });

  it.each([
    ['back', Date.UTC(2026, 9, 24, 10), ['25', '26', '27']],
    ['forward', Date.UTC(2026, 2, 28, 10), ['29', '30', '31']],
  ])('labels each midnight where the clocks go %s', (_way, first, days) => {
    const zone = process.env['TZ'];
    process.env['TZ'] = 'Europe/Berlin';
    try {
      const points = [first, first + 72 * 3_600_000].map((at) => [new Date(at).toISOString(), 1] as const);
      const ticks = layOut([{ name: 'a', token: 'accent', points }], space)?.timeTicks ?? [];
      const midnights = ticks.filter((at) => new Date(at).getHours() === 0).map((at) => String(new Date(at).getDate()));
      expect(midnights).toEqual(days);
      expect(ticks.every((at) => new Date(at).getMinutes() === 0 && new Date(at).getHours() % 12 === 0)).toBe(true);
    } finally {
      if (zone === undefined) delete process.env['TZ'];
      else process.env['TZ'] = zone;
    }
  });

  it('draws nothing without values or room', () => {
    expect(layOut([], space)).toBeUndefined();
    expect(layOut([series('a', [1])], { ...space, width: 20 })).toBeUndefined();
  });
});
