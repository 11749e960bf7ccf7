import { ManualClock } from '@flotilla/session';
import { describe, expect, it } from 'vitest';
import { DeviceFailures } from './device-failures.js';

const limits = { burst: 3, perSecond: 1, addressesMax: 10 };
const [hall, elsewhere] = ['192.0.2.1', '192.0.2.2'] as const;

function failTimes(attempts: DeviceFailures, times: number): void {
  for (let n = 0; n < times; n += 1) attempts.failed(hall);
}

describe('DeviceFailures', () => {
  it('lets an address connect and try until it failed too often, and again when time has passed', () => {
    const clock = new ManualClock();
    const attempts = new DeviceFailures(clock, limits);
    failTimes(attempts, 2);
    expect([attempts.mayConnect(hall), attempts.mayTry(hall, 'a')]).toEqual([true, true]);
    failTimes(attempts, 1);
    expect([attempts.mayConnect(hall), attempts.mayTry(hall, 'a')]).toEqual([false, false]);
    expect([attempts.mayConnect(elsewhere), attempts.mayTry(elsewhere, 'a')]).toEqual([true, true]);
    clock.advance(1_000);
    expect([attempts.mayConnect(hall), attempts.mayTry(hall, 'a')]).toEqual([true, true]);
  });

  it('counts nothing that succeeded', () => {
    const attempts = new DeviceFailures(new ManualClock(), limits);
    for (let n = 0; n < 100; n += 1) attempts.succeeded(hall, `device ${n}`);
    expect(attempts.mayTry(hall, 'a new one')).toBe(true);
  });

  it('always checks a login that was right before, regardless of its neighbours', () => {
    const attempts = new DeviceFailures(new ManualClock(), limits);
    attempts.succeeded(hall, 'board');
    failTimes(attempts, 1_000);
    expect(attempts.mayConnect(hall)).toBe(true);
    expect(attempts.mayTry(hall, 'board')).toBe(true);
    expect(attempts.mayTry(hall, 'stranger')).toBe(false);
    // Wherever it has moved to.
    expect(attempts.mayTry(elsewhere, 'board')).toBe(true);
  });
});
