import { describe, expect, it } from 'vitest';
import { serverTime } from './server-time.js';

const january = Date.UTC(2026, 0, 15, 12);
const july = Date.UTC(2026, 6, 15, 12);

describe('the time that a device receives', () => {
  it.each([
    ['UTC', january, 0],
    ['Europe/Berlin', january, 60],
    ['Europe/Berlin', july, 120],
    ['Asia/Kathmandu', january, 345],
    ['America/St_Johns', january, -210],
    ['Asia/Shanghai', july, 480],
  ])('has the offset of %s', (zone, now, timezone_offset) => {
    expect(serverTime(now, [zone])).toEqual({ timestamp: now, timezone_offset });
  });

  it('changes with daylight saving on the day itself', () => {
    const change = Date.UTC(2026, 2, 29, 1);
    expect(serverTime(change - 1, ['Europe/Berlin']).timezone_offset).toBe(60);
    expect(serverTime(change, ['Europe/Berlin']).timezone_offset).toBe(120);
  });

  it('falls back to the hub’s zone and then to UTC if a zone is invalid', () => {
    expect(serverTime(january, ['Nowhere/Land', 'Asia/Tokyo']).timezone_offset).toBe(540);
    expect(serverTime(january, [undefined, undefined]).timezone_offset).toBe(0);
  });
});
