import type { DeviceId } from '@flotilla/mcp';
import { describe, expect, it } from 'vitest';
import { PollWheel } from './poll-wheel.js';
import type { WatchedSession } from './watched-session.js';

const sessions = Array.from(
  { length: 3_000 },
  (_, index) => ({ deviceId: `device-${index}` as DeviceId }) as WatchedSession,
);
const wheelOf = (intervalSeconds: number): PollWheel => {
  const wheel = new PollWheel(intervalSeconds);
  for (const session of sessions) wheel.add(session);
  return wheel;
};

describe('the plan of looks', () => {
  it('looks at each session once per interval, spread over it, however they came', () => {
    const wheel = wheelOf(300);
    expect(wheel.due(0)).toEqual([]);
    const perSecond = Array.from({ length: 300 }, (_, second) => wheel.due((second + 1) * 1_000));
    expect(new Set(perSecond.flat()).size).toBe(sessions.length);
    expect(perSecond.flat()).toHaveLength(sessions.length);
    // Ten on average; the same ids make the same plan.
    expect(Math.max(...perSecond.map((due) => due.length))).toBeLessThan(30);
  });

  it('returns no sessions at the first look', () => {
    expect(wheelOf(300).due(1_800_000_000_000)).toEqual([]);
  });

  it('catches up after a standstill with each session once at most', () => {
    const wheel = wheelOf(60);
    wheel.due(0);
    expect(wheel.due(3_600_000)).toHaveLength(sessions.length);
  });

  it('forgets sessions that ended, and knows none without an interval', () => {
    const wheel = wheelOf(60);
    wheel.due(0);
    for (const session of sessions) wheel.remove(session);
    expect(wheel.due(60_000)).toEqual([]);
    const never = wheelOf(0);
    never.due(0);
    expect(never.due(60_000)).toEqual([]);
  });
});
