import { describe, expect, it } from 'vitest';
import { SeenEvents } from './seen-events.js';

const event = (n: number) => ({ cursor: `c${n}`, node: { id: `e${String(n).padStart(5, '0')}` } });

describe('events that were seen', () => {
  it('are delivered once', () => {
    const seen = new SeenEvents(undefined);
    expect([seen.add(event(1), 0), seen.add(event(1), 10), seen.add(event(2), 20)]).toEqual([true, false, true]);
  });

  it('are read again from some seconds back after a gap', () => {
    const seen = new SeenEvents('start');
    for (const [n, at] of [
      [1, 0],
      [2, 1_000],
      [3, 6_500],
    ] as const)
      seen.add(event(n), at);
    expect(seen.resumeAfter).toBe('c2');
    expect(seen.add(event(3), 6_600)).toBe(false);
  });

  it('are not read again because an earlier one came after them', () => {
    const seen = new SeenEvents('start');
    for (const [n, at] of [
      [3, 0],
      [2, 10],
      [4, 6_000],
    ] as const)
      seen.add(event(n), at);
    expect(seen.resumeAfter).toBe('c3');
  });

  it('are forgotten where they are too many', () => {
    const seen = new SeenEvents(undefined);
    for (let n = 0; n < 5_001; n++) seen.add(event(n), 0);
    expect(seen.resumeAfter).toBe('c0');
  });
});
