import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planChart } from './choose-interval.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const now = Date.UTC(2026, 5, 1);
const one = { rawSince: now - 7 * DAY, series: 1, valuesMax: 50_000 };

describe('the plan of a chart', () => {
  it.each([
    ['an hour', HOUR, 'RAW', 30_000],
    ['a day', DAY, 'RAW', 10 * 60_000],
    ['a week', 7 * DAY, 'HOUR', HOUR],
    ['30 days', 30 * DAY, 'HOUR', 4 * HOUR],
    ['a year', 365 * DAY, 'DAY', 2 * DAY],
  ])('of one device over %s', (_title, span, level, stepMs) => {
    expect(planChart({ since: now - span, until: now, points: 200 }, one)).toMatchObject({ level, stepMs });
  });

  it('reads roll-ups where the points are gone', () => {
    const period = { since: now - 30 * DAY, until: now - 30 * DAY + HOUR, points: 200 };
    expect(planChart(period, one)).toMatchObject({ level: 'HOUR', stepMs: HOUR });
  });

  it('of a large fleet reads coarser roll-ups than one of a few devices', () => {
    const period = { since: now - 30 * DAY, until: now, points: 200 };
    expect(planChart(period, { ...one, series: 10_000, valuesMax: 2_000_000 })).toMatchObject({ level: 'DAY' });
    expect(planChart(period, { ...one, series: 10, valuesMax: 2_000_000 })).toMatchObject({ level: 'HOUR' });
  });

  it('has at most so many intervals, and begins at or before the period', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10 * 366 * DAY }),
        fc.integer({ min: 1, max: 1_000 }),
        fc.nat(20_000),
        (span, points, series) => {
          const since = now - span;
          const { from, stepMs } = planChart({ since, until: now, points }, { ...one, series, valuesMax: 2_000_000 });
          expect(from).toBeLessThanOrEqual(since);
          expect(from + stepMs).toBeGreaterThan(since);
          // A level may be too coarse, never too fine; one aligned interval always remains.
          expect(Math.ceil((now - from) / stepMs)).toBeLessThanOrEqual(Math.max(points, 2));
        },
      ),
    );
  });
});
