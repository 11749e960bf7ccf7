import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { clockNow, tickMs, watchClock } from './clock';

beforeEach(() => vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

describe('the clock of a page', () => {
  it('moves on while it is watched, and is right again when it is watched again', () => {
    const seen: number[] = [];
    const leave = watchClock(() => seen.push(clockNow()));
    expect(clockNow()).toBe(1_000_000);
    vi.advanceTimersByTime(2 * tickMs);
    expect(seen).toEqual([1_000_000 + tickMs, 1_000_000 + 2 * tickMs]);
    leave();
    vi.advanceTimersByTime(3_600_000);
    expect(seen).toHaveLength(2);
    watchClock(() => undefined)();
    expect(clockNow()).toBe(1_000_000 + 2 * tickMs + 3_600_000);
  });
});
