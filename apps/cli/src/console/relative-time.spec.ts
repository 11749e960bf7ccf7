import { describe, expect, it } from 'vitest';
import { isTime, relativeTime } from './relative-time.js';

const now = Date.parse('2026-06-01T12:00:00Z');

describe('a time in a table', () => {
  it.each([
    ['2026-06-01T12:00:00.400Z', 'now'],
    ['2026-06-01T11:59:57Z', '3s ago'],
    ['2026-06-01T11:58:01Z', '1m ago'],
    ['2026-05-31T13:00:00Z', '23h ago'],
    ['2026-05-20T12:00:00Z', '12d ago'],
    ['2026-01-31T12:00:00Z', '2026-01-31'],
    ['2026-06-01T15:20:00+02:00', 'in 1h'],
    ['2026-06-01T13:59:59.600Z', 'in 2h'],
    ['2026-06-01T12:59:59.600Z', 'in 1h'],
    ['2026-06-02T11:59:58Z', 'in 1d'],
    ['2026-06-02T10:00:00Z', 'in 22h'],
    ['2026-06-08T11:59:00Z', 'in 7d'],
  ])('%s is %s', (time, words) => expect(relativeTime(time, now)).toBe(words));

  it('is recognised by its form', () => {
    expect(['2026-06-01T12:00:00.400Z', '2026-06-01T15:30:00+02:00'].every(isTime)).toBe(true);
    expect(['2026-06-01', 'Lamp 2026-06-01T12:00:00Z', 7, null].some(isTime)).toBe(false);
  });
});
