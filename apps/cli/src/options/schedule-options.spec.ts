/** Options of a schedule become the start and the window of `createJob`. */
import { describe, expect, it } from 'vitest';
import { scheduleOf } from './schedule-options.js';

const now = Date.parse('2026-03-28T12:00:00Z');

describe('a schedule', () => {
  it.each([
    ['2h', '2026-03-28T14:00:00.000Z'],
    ['2026-03-29T22:00+02:00', '2026-03-29T20:00:00.000Z'],
    ['2026-03-29T22:00Z', '2026-03-29T22:00:00.000Z'],
    ['2026-03-29T22:00', new Date('2026-03-29T22:00').toISOString()],
  ])('starts at %s', (typed, startAt) => {
    expect(scheduleOf({ 'start-at': typed }, now)).toEqual({ startAt });
  });

  it('has a window in the named zone, on the named days', () => {
    const args = { window: '22:00-06:00', 'window-zone': 'Europe/Berlin', 'window-days': 'mon,Sun' };
    const window = { from: '22:00', to: '06:00', zone: 'Europe/Berlin', days: [1, 7] };
    expect(scheduleOf(args, now)).toEqual({ window });
  });

  it('has a window in the zone of this computer without a name, every day', () => {
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    expect(scheduleOf({ window: '22:00-06:00' }, now)).toEqual({ window: { from: '22:00', to: '06:00', zone } });
  });

  it('is empty without options', () => {
    expect(scheduleOf({}, now)).toEqual({});
  });

  it.each([
    [{ 'start-at': 'tonight' }, '--start-at must be'],
    [{ window: '22-6' }, '--window must be hours such as 22:00-06:00'],
    [{ window: '24:00-06:00' }, '--window must be hours'],
    [{ window: '22:00-06:00', 'window-zone': 'Berlin' }, '--window-zone must be an IANA time zone'],
    [{ window: '22:00-06:00', 'window-days': 'monday' }, '--window-days must be days'],
    [{ 'window-zone': 'Europe/Berlin' }, 'Add --window'],
  ])('is rejected for %j', (args, message) => expect(() => scheduleOf(args, now)).toThrow(message));
});
