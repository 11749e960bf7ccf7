import { ManualClock } from '@flotilla/session';
import { describe, expect, it } from 'vitest';
import { WakeSignal } from './wake-signal.js';

describe('WakeSignal', () => {
  it('sleeps until its time is over', async () => {
    const clock = new ManualClock(0);
    const sleep = new WakeSignal(clock).sleep(100);
    clock.advance(100);
    expect(await sleep).toBe(false);
  });

  it('is woken before, and by a wake that came while nobody slept, but by each wake once', async () => {
    const clock = new ManualClock(0);
    const signal = new WakeSignal(clock);
    const sleep = signal.sleep(100);
    signal.wake();
    expect(await sleep).toBe(true);
    signal.wake();
    signal.wake();
    expect(await signal.sleep(100)).toBe(true);
    const next = signal.sleep(100);
    clock.advance(100);
    expect(await next).toBe(false);
  });
});
