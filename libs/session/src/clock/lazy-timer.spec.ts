import { expect, it } from 'vitest';
import { LazyTimer } from './lazy-timer.js';
import { ManualClock } from './manual-clock.js';

function timerAt(now: number) {
  const clock = new ManualClock(now);
  const woken: number[] = [];
  return { clock, woken, timer: new LazyTimer(clock, (reachedAt) => woken.push(reachedAt)) };
}

it('moves only to an earlier time', () => {
  const { clock, woken, timer } = timerAt(1000);
  timer.wakeBy(1500);
  timer.wakeBy(1800);
  timer.wakeBy(1200);
  expect(clock.timers).toBe(1);
  clock.advance(5000);
  expect(woken).toEqual([1200]);
});

it('fires immediately for a time in the past, and never without a time', () => {
  const { clock, woken, timer } = timerAt(1000);
  timer.wakeBy(Infinity);
  expect(clock.timers).toBe(0);
  timer.wakeBy(1);
  clock.advance(0);
  expect(woken).toEqual([1000]);
});

it('fires early for a time beyond the maximum delay', () => {
  const { clock, woken, timer } = timerAt(0);
  timer.wakeBy(60 * 24 * 3_600_000);
  clock.advance(3_600_000);
  expect(woken).toEqual([3_600_000]);
});

it('reaches its time when the clock is set back', () => {
  const { clock, woken, timer } = timerAt(3_600_000);
  timer.wakeBy(3_600_500);
  clock.step(-3_600_000);
  clock.advance(499);
  expect(woken).toEqual([]);
  clock.advance(1);
  expect(woken).toEqual([3_600_500]);
});

it('does not fire after stop', () => {
  const { clock, woken, timer } = timerAt(0);
  timer.wakeBy(10);
  timer.stop();
  clock.advance(100);
  expect(woken).toEqual([]);
});
