import { describe, expect, it } from 'vitest';
import { cronOf, defaultSchedule, scheduleNameMax, scheduleNameOf, scheduleOf, type Schedule } from './schedule';

const schedules: readonly (readonly [string, Partial<Schedule>])[] = [
  ['5 22 * * *', { rhythm: 'daily', time: '22:05' }],
  ['30 6 * * MON,FRI', { rhythm: 'weekly', time: '06:30', days: [5, 1] }],
  ['0 4 31 * *', { rhythm: 'monthly', time: '04:00', monthDay: 31 }],
  ['15 * * * *', { rhythm: 'hourly', time: '22:15' }],
  ['*/5 8-18 * * *', { rhythm: 'custom', cron: ' */5 8-18 * * *' }],
  ['', { rhythm: 'weekly', days: [] }],
  ['', { rhythm: 'daily', time: '' }],
];

describe('a schedule', () => {
  it.each(schedules)('is written as "%s"', (cron, form) => {
    expect(cronOf({ ...defaultSchedule, ...form })).toBe(cron);
  });

  it.each(['5 22 * * *', '30 6 * * MON,FRI', '0 4 31 * *', '15 * * * *', '*/5 8-18 * * *', '@daily', '0 0 * * 1-5'])(
    'survives the form: "%s"',
    (cron) => {
      expect(cronOf(scheduleOf(cron))).toBe(cron);
    },
  );

  it.each(['@daily', '0 0 * * 1-5', '0 0 1 1 *', ''])('is custom where no rhythm fits: "%s"', (cron) => {
    expect(scheduleOf(cron).rhythm).toBe('custom');
  });

  it('has a name that the hub takes, also from a job with a longer one', () => {
    expect(scheduleNameOf('Night volume')).toBe('Night volume');
    expect(scheduleNameOf('n'.repeat(200))).toBe('n'.repeat(scheduleNameMax));
    expect(scheduleNameOf(`${'n'.repeat(99)}🔊🔊`)).toBe(`${'n'.repeat(99)}🔊`);
    expect(scheduleNameOf(`${'n'.repeat(99)} volume`)).toBe('n'.repeat(99));
  });
});
