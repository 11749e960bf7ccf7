import { describe, expect, it } from 'vitest';
import { cronProblem, CronTimes } from './cron-times.js';

const at = (text: string) => Date.parse(text);
const times = (cron: string, timeZone: string, after: string, count: number) =>
  new CronTimes({ cron, timeZone }).list(count, at(after)).map((time) => new Date(time).toISOString());

describe('cron times', () => {
  it.each([
    // The clock jumps from 2:00 to 3:00 on 29 March.
    ['Europe/Berlin', '2026-03-28T12:00:00Z', ['2026-03-29T01:30:00.000Z', '2026-03-30T00:30:00.000Z']],
    ['America/New_York', '2026-03-07T18:00:00Z', ['2026-03-08T07:30:00.000Z', '2026-03-09T06:30:00.000Z']],
    ['Asia/Shanghai', '2026-03-28T12:00:00Z', ['2026-03-28T18:30:00.000Z', '2026-03-29T18:30:00.000Z']],
  ])('that do not exist in %s run an hour later', (zone, after, expected) => {
    expect(times('30 2 * * *', zone, after, 2)).toEqual(expected);
  });

  it.each([
    // The clock goes back from 3:00 to 2:00 on 25 October.
    ['Europe/Berlin', '30 2 * * *', '2026-10-24T12:00:00Z', ['2026-10-25T00:30:00.000Z', '2026-10-26T01:30:00.000Z']],
    [
      'America/New_York',
      '30 1 * * *',
      '2026-10-31T18:00:00Z',
      ['2026-11-01T05:30:00.000Z', '2026-11-02T06:30:00.000Z'],
    ],
  ])('that occur twice in %s run once', (zone, cron, after, expected) => {
    expect(times(cron, zone, after, 2)).toEqual(expected);
  });

  it('run once in an hour that occurs twice', () => {
    expect(times('0 * * * *', 'Europe/Berlin', '2026-10-24T23:30:00Z', 3)).toEqual([
      '2026-10-25T00:00:00.000Z',
      '2026-10-25T02:00:00.000Z',
      '2026-10-25T03:00:00.000Z',
    ]);
  });

  it.each([
    ['*/20 * * * *', '2026-10-25T01:10:30Z', '2026-10-25T02:00:00.000Z'],
    ['*/20 * * * *', '2026-10-25T01:00:00Z', '2026-10-25T02:00:00.000Z'],
    ['30 2 * * *', '2026-10-25T01:10:00Z', '2026-10-26T01:30:00.000Z'],
    ['30 2 * * *', '2026-10-25T01:29:59.999Z', '2026-10-26T01:30:00.000Z'],
  ])('of %s are later than %s, in the second of two equal hours', (cron, after, expected) => {
    expect(times(cron, 'Europe/Berlin', after, 1)).toEqual([expected]);
  });

  it('are listed once each where the clock goes forward', () => {
    expect(times('30 * * * *', 'Europe/Berlin', '2026-03-28T23:40:00Z', 4)).toEqual([
      '2026-03-29T00:30:00.000Z',
      '2026-03-29T01:30:00.000Z',
      '2026-03-29T02:30:00.000Z',
      '2026-03-29T03:30:00.000Z',
    ]);
  });

  it('end at a given time', () => {
    const daily = new CronTimes({ cron: '@daily', timeZone: 'UTC' });
    const [after, until] = [at('2026-01-01T00:00:00Z'), at('2026-01-03T00:00:00Z')];
    expect(daily.list(10, after, until)).toEqual([at('2026-01-02T00:00:00Z'), until]);
    expect(daily.next(until, until)).toBeUndefined();
  });
});

describe('a cron expression', () => {
  it.each(['30 6 * * MON-FRI', '*/5 * * * *', '0 0 1 * *', '@daily', '@hourly', '0 0 29 2 *'])('may be %s', (cron) => {
    expect(cronProblem(cron, at('2026-01-01T00:00:00Z'))).toBeUndefined();
  });

  it.each(['', 'daily', '61 * * * *', '* * * *', '* * * * * *', '@reboot', '\0', '* * * * FOO'])(
    'is refused with advice: "%s"',
    (cron) => {
      expect(cronProblem(cron, at('2026-01-01T00:00:00Z'))).toMatch(/not a cron expression.*Write five fields/);
    },
  );

  it('is refused if it never happens', () => {
    expect(cronProblem('0 0 30 2 *', at('2026-01-01T00:00:00Z'))).toContain('never happens');
  });
});
