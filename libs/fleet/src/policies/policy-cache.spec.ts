import { ManualClock } from '@flotilla/session';
import { expect, it } from 'vitest';
import { PolicyCache } from './policy-cache.js';

it('reads the policies again after five seconds, and when the clock was set back', async () => {
  const clock = new ManualClock(10_000_000);
  let reads = 0;
  const all = () => {
    reads += 1;
    return Promise.resolve([]);
  };
  const cache = new PolicyCache({ all }, clock, { subscribe: () => () => undefined });
  const readsAfter = async (stepMs: number): Promise<number> => {
    clock.step(stepMs);
    await cache.policyOf('tool');
    return reads;
  };
  expect(await readsAfter(0)).toBe(1);
  expect(await readsAfter(4_999)).toBe(1);
  expect(await readsAfter(1)).toBe(2);
  expect(await readsAfter(-3_600_000)).toBe(3);
  expect(await readsAfter(4_999)).toBe(3);
});
