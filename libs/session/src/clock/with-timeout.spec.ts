import { expect, it } from 'vitest';
import { ManualClock } from './manual-clock.js';
import { TimeoutError, withTimeout } from './with-timeout.js';

const never = new Promise<number>(() => undefined);

it.each([
  ['value', () => Promise.resolve(5), { status: 'fulfilled', value: 5 }],
  ['error', () => Promise.reject<number>(new TypeError('away')), { status: 'rejected', reason: new TypeError('away') }],
])('passes on the %s of work that ends in time, and leaves no timer', async (_what, work, end) => {
  const clock = new ManualClock();
  expect(await Promise.allSettled([withTimeout(work(), 100, clock)])).toEqual([end]);
  expect(clock.timers).toBe(0);
});

it('rejects with a TimeoutError after the timeout', async () => {
  const clock = new ManualClock();
  const waiting = withTimeout(never, 100, clock);
  clock.advance(100);
  await expect(waiting).rejects.toThrow(TimeoutError);
  await expect(waiting).rejects.toThrow('no answer within 100 ms');
});

it('takes the value or the error of `onTimeout` instead', async () => {
  const clock = new ManualClock();
  const fallback = withTimeout(never, 100, clock, () => 0);
  const failure = withTimeout(never, 100, clock, () => {
    throw new RangeError('late');
  });
  clock.advance(100);
  expect(await fallback).toBe(0);
  await expect(failure).rejects.toThrow(RangeError);
});

it('ignores work that ends late', async () => {
  const clock = new ManualClock();
  let endLate: (value: number) => void = () => undefined;
  const waiting = withTimeout(new Promise<number>((resolve) => (endLate = resolve)), 100, clock, () => 0);
  clock.advance(100);
  endLate(5);
  expect(await waiting).toBe(0);
});
