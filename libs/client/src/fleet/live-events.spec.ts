import { describe, expect, it } from 'vitest';
import { LiveEvents } from './live-events.js';

describe('live events for a reader', () => {
  it('that overflow the queue become one gap, reported once', async () => {
    const live = new LiveEvents<number>(2);
    for (const value of [1, 2, 3]) live.push(value);
    expect(await live.take()).toBe('missed');
    live.push(4);
    expect(await live.take()).toBe(4);
  });

  it('wake the reader: a value, a gap, a failure', async () => {
    const live = new LiveEvents<number>(2);
    for (const [act, expected] of [
      [() => live.push(1), 1],
      [() => live.miss(), 'missed'],
    ] as const) {
      const next = live.take();
      act();
      expect(await next).toBe(expected);
    }
    const next = live.take();
    live.fail(new Error('gone'));
    await expect(next).rejects.toThrow('gone');
  });
});
