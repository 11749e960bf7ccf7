import fc from 'fast-check';
import { DateTime } from 'luxon';
import { describe, expect, it } from 'vitest';
import type { DailyWindow } from './daily-window.js';
import { windowAt } from './window-at.js';

const berlin = (from: string, to: string, days?: readonly number[]): DailyWindow => ({
  from,
  to,
  zone: 'Europe/Berlin',
  ...(days ? { days } : {}),
});
const at = (iso: string): number => Date.parse(iso);
const state = (window: DailyWindow, iso: string) => {
  const { isOpen, until } = windowAt(window, at(iso));
  return [isOpen, new Date(until).toISOString()];
};

describe('a daily window', () => {
  it.each<[string, DailyWindow, string, boolean, string]>([
    ['is open within its hours', berlin('22:00', '23:30'), '2026-06-10T20:30:00Z', true, '2026-06-10T21:30:00.000Z'],
    ['opens at its first minute', berlin('22:00', '23:30'), '2026-06-10T20:00:00Z', true, '2026-06-10T21:30:00.000Z'],
    ['is closed at its last', berlin('22:00', '23:30'), '2026-06-10T21:30:00Z', false, '2026-06-11T20:00:00.000Z'],
    ['goes on over midnight', berlin('22:00', '04:00'), '2026-06-11T01:00:00Z', true, '2026-06-11T02:00:00.000Z'],
    [
      'is that of the day on which it opened',
      berlin('22:00', '04:00', [3]),
      '2026-06-11T01:00:00Z',
      true,
      '2026-06-11T02:00:00.000Z',
    ],
    [
      'stays closed on other days',
      berlin('22:00', '04:00', [4]),
      '2026-06-11T01:00:00Z',
      false,
      '2026-06-11T20:00:00.000Z',
    ],
    [
      'waits for its one day of the week',
      berlin('01:00', '02:00', [1]),
      '2026-06-09T12:00:00Z',
      false,
      '2026-06-14T23:00:00.000Z',
    ],
    // Clocks go from 02:00 to 03:00 at 01:00Z on 29 March 2026.
    [
      'opens at the skip where its beginning is skipped',
      berlin('02:30', '05:00'),
      '2026-03-29T00:59:59Z',
      false,
      '2026-03-29T01:00:00.000Z',
    ],
    [
      'closes at the skip where its end is skipped',
      berlin('01:00', '02:30'),
      '2026-03-29T00:30:00Z',
      true,
      '2026-03-29T01:00:00.000Z',
    ],
    ['is shorter over the skip', berlin('01:00', '04:00'), '2026-03-29T00:30:00Z', true, '2026-03-29T02:00:00.000Z'],
    [
      'does not open where all of it is skipped',
      berlin('02:10', '02:50'),
      '2026-03-29T00:30:00Z',
      false,
      '2026-03-30T00:10:00.000Z',
    ],
    // Clocks go from 03:00 back to 02:00 at 01:00Z on 25 October 2026.
    [
      'is longer over the repeated hour',
      berlin('01:00', '04:00'),
      '2026-10-25T00:30:00Z',
      true,
      '2026-10-25T03:00:00.000Z',
    ],
    [
      'opens once in a repeated hour',
      berlin('02:10', '02:50'),
      '2026-10-25T00:20:00Z',
      true,
      '2026-10-25T00:50:00.000Z',
    ],
    [
      'does not open again in the repetition',
      berlin('02:10', '02:50'),
      '2026-10-25T01:20:00Z',
      false,
      '2026-10-26T01:10:00.000Z',
    ],
    [
      'closes at the first showing of its end',
      berlin('22:00', '02:30'),
      '2026-10-24T23:00:00Z',
      true,
      '2026-10-25T00:30:00.000Z',
    ],
  ])('%s', (_, window, now, isOpen, until) => {
    expect(state(window, now)).toEqual([isOpen, until]);
  });

  const zones = [
    'Europe/Berlin',
    'America/New_York',
    'Australia/Lord_Howe',
    'Asia/Kathmandu',
    'America/St_Johns',
    'Pacific/Apia',
    'UTC',
  ];
  const time = fc
    .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
    .map((parts) => parts.map((part) => String(part).padStart(2, '0')).join(':'));
  const window = fc
    .record({
      from: time,
      to: time,
      zone: fc.constantFrom(...zones),
      days: fc.option(fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1 }), { nil: undefined }),
    })
    .filter(({ from, to }) => from !== to)
    .map(({ days, ...rest }): DailyWindow => ({ ...rest, ...(days ? { days } : {}) }));
  /** Moments of 2026, half of them within hours of a change of clocks. */
  const moment = fc.oneof(
    fc.integer({ min: at('2026-01-01T00:00:00Z'), max: at('2026-12-31T00:00:00Z') }),
    ...[
      '2026-03-29T01:00:00Z',
      '2026-10-25T01:00:00Z',
      '2026-03-08T07:00:00Z',
      '2026-11-01T06:00:00Z',
      '2026-04-04T15:00:00Z',
    ].map((iso) => fc.integer({ min: at(iso) - 6 * 3_600_000, max: at(iso) + 6 * 3_600_000 })),
  );

  it('does not change before it says, and changes then', () => {
    fc.assert(
      fc.property(window, moment, (each, now) => {
        const { isOpen, until } = windowAt(each, now);
        expect(until).toBeGreaterThan(now);
        expect(windowAt(each, until - 1)).toEqual({ isOpen, until });
        // An end that is the beginning of the next window is no change.
        if (!isOpen) expect(windowAt(each, until).isOpen).toBe(true);
        else expect(windowAt(each, until)).not.toEqual({ isOpen, until });
      }),
      { numRuns: 400 },
    );
  });

  it('is open exactly when the clocks of its zone say so, on days without a change of clocks', () => {
    fc.assert(
      fc.property(window, moment, (each, now) => {
        const local = DateTime.fromMillis(now, { zone: each.zone });
        fc.pre([-2, -1, 0, 1, 2].every((days) => local.plus({ days }).offset === local.offset));
        const clock = local.toFormat('HH:mm');
        const isOvernight = each.to < each.from;
        const isAfterMidnight = isOvernight && clock < each.to;
        const isWithin = isOvernight ? clock >= each.from || isAfterMidnight : clock >= each.from && clock < each.to;
        const openedOn = local.minus({ days: isAfterMidnight ? 1 : 0 }).weekday;
        expect(windowAt(each, now).isOpen).toBe(isWithin && (each.days?.includes(openedOn) ?? true));
      }),
      { numRuns: 400 },
    );
  });

  it('is never open longer than its hours and one change of clocks', () => {
    fc.assert(
      fc.property(window, moment, (each, now) => {
        const { isOpen, until } = windowAt(each, now);
        fc.pre(!isOpen);
        const [from = 0, to = 0] = [each.from, each.to].map(
          (text) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3)),
        );
        const minutes = (to - from + 1_440) % 1_440;
        const openMs = windowAt(each, until).until - until;
        expect(Math.abs(openMs / 60_000 - minutes)).toBeLessThanOrEqual(60);
      }),
      { numRuns: 300 },
    );
  });
});
