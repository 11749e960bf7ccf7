import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { periodStart } from './period-start';

const hourMs = 3_600_000;

describe('the start of a period', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('moves on with the clock on a page that stays open, and is the same within a step', () => {
    vi.setSystemTime('2026-03-04T12:03:00.000Z');
    expect(periodStart(hourMs)).toBe('2026-03-04T11:00:00.000Z');
    vi.setSystemTime('2026-03-04T12:09:59.000Z');
    expect(periodStart(hourMs)).toBe('2026-03-04T11:00:00.000Z');
    vi.setSystemTime('2026-03-05T12:10:00.000Z');
    expect(periodStart(hourMs)).toBe('2026-03-05T11:10:00.000Z');
  });

  it('moves in longer steps for a longer period, or in the given step', () => {
    vi.setSystemTime('2026-03-04T12:59:00.000Z');
    expect(periodStart(24 * hourMs)).toBe('2026-03-03T12:00:00.000Z');
    expect(periodStart(24 * hourMs, 600_000)).toBe('2026-03-03T12:50:00.000Z');
  });
});
