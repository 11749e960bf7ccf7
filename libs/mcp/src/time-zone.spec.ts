import { describe, expect, it } from 'vitest';
import { isTimeZone } from './time-zone.js';

describe('isTimeZone', () => {
  it.each(['Europe/Berlin', 'America/Argentina/Buenos_Aires', 'UTC', 'Asia/Kathmandu'])('knows %s', (name) => {
    expect(isTimeZone(name)).toBe(true);
  });

  it.each(['Nowhere/Land', '', '+01:00', '-0330', 'Europe/Berlin ', "x'; DROP TABLE device; --", '\0'])(
    'rejects %j',
    (name) => {
      expect(isTimeZone(name)).toBe(false);
    },
  );
});
