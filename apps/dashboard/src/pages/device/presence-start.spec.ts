import { describe, expect, it } from 'vitest';
import { presenceNow, presenceStart } from './presence-start';

const hourMs = 3_600_000;
const now = 100 * hourMs;
const past = { now, hours: 24, hasMore: false, toolsSeenAt: [] };

describe('the start of the presence line', () => {
  it('is a day ago for a device that was there before, or never', () => {
    const connectedAt = [now - hourMs, now - 50 * hourMs];
    expect(presenceStart({ ...past, connectedAt })).toBe(now - 24 * hourMs);
    expect(presenceStart({ ...past, connectedAt: [] })).toBe(now - 24 * hourMs);
  });

  it('is the first session of a new device, which was not offline before', () => {
    const connectedAt = [now - hourMs, now - 2 * hourMs];
    expect(presenceStart({ ...past, connectedAt, toolsSeenAt: [now - hourMs] })).toBe(now - 2 * hourMs);
  });

  it('is a day ago for a device that came back after its earlier sessions were deleted', () => {
    const toolsSeenAt = [now - hourMs, now - 90 * hourMs];
    expect(presenceStart({ ...past, connectedAt: [now - hourMs], toolsSeenAt })).toBe(now - 24 * hourMs);
  });

  it('is the earliest session that was read, where there are more', () => {
    const connectedAt = [now - hourMs, now - 3 * hourMs];
    const toolsSeenAt = [now - 90 * hourMs];
    expect(presenceStart({ ...past, connectedAt, toolsSeenAt, hasMore: true })).toBe(now - 3 * hourMs);
  });
});

describe('the end of the presence line', () => {
  const at = (ms: number) => new Date(ms).toISOString();

  it('is now', () => {
    expect(presenceNow(now, [{ connectedAt: at(now - hourMs), disconnectedAt: null }])).toBe(now);
    expect(presenceNow(now, [])).toBe(now);
  });

  it('is after the start of an open session and not before the end of another, by a clock that is behind', () => {
    const open = { connectedAt: at(now), disconnectedAt: null };
    expect(presenceNow(now - hourMs, [open])).toBeGreaterThan(now);
    const ended = { connectedAt: at(now - hourMs), disconnectedAt: at(now) };
    expect(presenceNow(now - 2 * hourMs, [ended])).toBe(now);
  });
});
