import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { LateReplies } from './late-replies.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('logs an outage of Redis once, however often it tries to deliver a reply', async () => {
  const publish = vi.fn<() => Promise<number>>(() => Promise.reject(new Error('away')));
  const warn = vi.fn();
  const replies = new LateReplies({ publish }, { warn, error: vi.fn() });
  const until = Date.now() + 3_600_000;
  replies.send('answers', 'one', until);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(publish.mock.calls.length).toBeGreaterThan(5);
  expect(warn).toHaveBeenCalledTimes(1);
  publish.mockResolvedValue(1);
  await vi.advanceTimersByTimeAsync(1_000);
  publish.mockRejectedValue(new Error('away again'));
  replies.send('answers', 'two', until);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(warn).toHaveBeenCalledTimes(2);
  replies.close();
});
