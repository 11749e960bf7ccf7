import { describe, expect, it } from 'vitest';
import { type DailyHours, instantsOf, localTimeOf, nextOpening, offsetAt } from './zoned-time';

const iso = (instants: readonly number[]) => instants.map((at) => new Date(at).toISOString().slice(0, 16));
const hour = 3_600_000;

describe('a local time', () => {
  it.each([
    ['2026-07-01T22:00', 'Europe/Berlin', ['2026-07-01T20:00']],
    ['2026-01-01T22:00', 'Europe/Berlin', ['2026-01-01T21:00']],
    ['2026-07-01T09:00', 'Asia/Kolkata', ['2026-07-01T03:30']],
    ['2026-07-01T09:00', 'Asia/Shanghai', ['2026-07-01T01:00']],
    ['2026-07-01T09:00', 'UTC', ['2026-07-01T09:00']],
  ])('%s in %s is one instant', (local, zone, expected) => {
    expect(iso(instantsOf(local, zone))).toEqual(expected);
  });

  it.each([
    ['Europe/Berlin', '2026-03-29T02:30'],
    ['America/New_York', '2026-03-08T02:30'],
    ['Australia/Lord_Howe', '2026-10-04T02:15'],
  ])('that the clocks of %s skip is no instant', (zone, local) => {
    expect(instantsOf(local, zone)).toEqual([]);
  });

  it.each([
    ['Europe/Berlin', '2026-10-25T02:30', ['2026-10-25T00:30', '2026-10-25T01:30']],
    ['America/New_York', '2026-11-01T01:30', ['2026-11-01T05:30', '2026-11-01T06:30']],
    ['Australia/Lord_Howe', '2026-04-05T01:45', ['2026-04-04T14:45', '2026-04-04T15:15']],
  ])('that the clocks of %s show twice is two instants, the earlier first', (zone, local, expected) => {
    expect(iso(instantsOf(local, zone))).toEqual(expected);
  });

  it('that cannot be read is no instant', () => {
    expect(instantsOf('tomorrow', 'UTC')).toEqual([]);
  });

  it('is found again from its instant, on both sides of a change', () => {
    const change = Date.parse('2026-10-25T01:00Z');
    expect(localTimeOf(change - hour, 'Europe/Berlin')).toBe('2026-10-25T02:00');
    expect(localTimeOf(change, 'Europe/Berlin')).toBe('2026-10-25T02:00');
    expect([offsetAt(change - 1, 'Europe/Berlin'), offsetAt(change, 'Europe/Berlin')]).toEqual([2 * hour, hour]);
  });
});

describe('daily hours', () => {
  const night: DailyHours = { from: '22:00', to: '06:00', zone: 'Europe/Berlin', days: [] };
  const opening = (hours: DailyHours, now: string) =>
    iso([nextOpening(hours, Date.parse(now)) ?? Number.NaN].filter((at) => !Number.isNaN(at)));

  it('begin at the same local time before and after daylight saving time', () => {
    expect(opening(night, '2026-03-28T12:00Z')).toEqual(['2026-03-28T21:00']);
    expect(opening(night, '2026-03-29T12:00Z')).toEqual(['2026-03-29T20:00']);
    expect(opening(night, '2026-10-25T12:00Z')).toEqual(['2026-10-25T21:00']);
  });

  it('begin tomorrow once they have begun today', () => {
    expect(opening(night, '2026-07-01T20:00Z')).toEqual(['2026-07-02T20:00']);
  });

  it('begin on one of their days, by the date of their zone', () => {
    const mondays = { ...night, from: '00:30', zone: 'Asia/Shanghai', days: [1] };
    expect(opening(mondays, '2026-07-05T12:00Z')).toEqual(['2026-07-05T16:30']);
    expect(opening(mondays, '2026-07-05T16:30Z')).toEqual(['2026-07-12T16:30']);
  });

  it('begin when a skipped time would have been', () => {
    expect(opening({ ...night, from: '02:30' }, '2026-03-28T12:00Z')).toEqual(['2026-03-29T01:30']);
  });

  it('never begin at a time that cannot be read', () => {
    expect(opening({ ...night, from: '' }, '2026-03-28T12:00Z')).toEqual([]);
  });
});
