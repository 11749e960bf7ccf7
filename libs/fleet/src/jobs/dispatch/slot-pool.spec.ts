import type { JobId } from '@flotilla/mcp';
import { ManualClock } from '@flotilla/session';
import { expect, it } from 'vitest';
import { SlotPool } from './slot-pool.js';

const jobOf = (id: string) => ({ id: id as JobId, priority: 2 }) as const;

it('gets the slots back that were set aside for a job that wants none any more', () => {
  const pool = new SlotPool(new ManualClock(), 50);
  const [first, second] = [jobOf('first'), jobOf('second')];
  let wakes = 0;
  expect(pool.take(first, 50, () => undefined)).toBe(50);
  expect(pool.take(second, 50, () => (wakes += 1))).toBe(0);
  pool.give(25);
  expect([wakes, pool.inUse]).toEqual([1, 50]);
  pool.withdraw(second.id);
  expect(pool.inUse).toBe(25);
});

it('passes on what was set aside for a job that wants less by then', () => {
  const pool = new SlotPool(new ManualClock(), 100);
  const [first, second, third, fourth] = [jobOf('first'), jobOf('second'), jobOf('third'), jobOf('fourth')];
  const woken: string[] = [];
  expect(pool.take(first, 100, () => undefined)).toBe(100);
  for (const job of [second, third, fourth]) expect(pool.take(job, 50, () => void woken.push(job.id))).toBe(0);
  pool.give(50);
  expect(woken).toEqual(['second']);
  expect(pool.take(second, 10, () => undefined)).toBe(10);
  expect(woken).toEqual(['second', 'third']);
  expect(pool.take(third, 50, () => undefined)).toBe(40);
  expect(pool.inUse).toBe(100);
});

it('does not wake a job that wanted none', () => {
  const pool = new SlotPool(new ManualClock(), 50);
  const [first, second, third] = [jobOf('first'), jobOf('second'), jobOf('third')];
  const woken: string[] = [];
  expect(pool.take(first, 50, () => undefined)).toBe(50);
  for (const [job, wanted] of [
    [second, 0],
    [third, 10],
  ] as const)
    expect(pool.take(job, wanted, () => void woken.push(job.id))).toBe(0);
  pool.give(50);
  expect(woken).toEqual(['third']);
});
