import type { DeviceId } from '@flotilla/mcp';
import { describe, expect, it } from 'vitest';
import { SweepClock } from './sweep-clock.js';

const hourSeconds = 3_600;

/** A fleet of numbered devices, and how many each second of an hour brought. */
async function anHour(
  devices: number,
): Promise<{ readonly seen: readonly DeviceId[]; readonly steps: readonly number[] }> {
  const ids = Array.from({ length: devices }, (_, index) => String(index).padStart(7, '0') as DeviceId);
  const clock = new SweepClock({
    deviceCount: () => Promise.resolve(devices),
    devicesAfter: (after, limit) => {
      const from = after === '' ? 0 : Number(after) + 1;
      return Promise.resolve(ids.slice(from, from + limit));
    },
  });
  const seen: DeviceId[] = [];
  const steps: number[] = [];
  for (let second = 0; second < hourSeconds; second += 1) {
    const due = await clock.due(second * 1_000);
    seen.push(...due);
    if (due.length > 0) steps.push(due.length);
  }
  return { seen, steps };
}

describe('the sweep', () => {
  it.each([1, 40, 10_000, 300_000])(
    'looks at each of %i devices once an hour, but the last of them',
    async (devices) => {
      const { seen } = await anHour(devices);
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen.length).toBeGreaterThanOrEqual(Math.floor(devices * 0.99));
    },
  );

  it('gathers devices for up to ten seconds', async () => {
    expect((await anHour(10_000)).steps.length).toBeLessThanOrEqual(hourSeconds / 10);
    expect(Math.max(...(await anHour(100_000)).steps)).toBeLessThan(300);
  });

  it('goes on after the clock was set back', async () => {
    const clock = new SweepClock({
      deviceCount: () => Promise.resolve(1),
      devicesAfter: (after) => Promise.resolve(after === '' ? ['a' as DeviceId] : []),
    });
    await clock.due(5_000_000);
    expect(await clock.due(5_000_000 + hourSeconds * 500)).toEqual(['a']);
    await clock.due(1_000_000);
    expect(await clock.due(1_000_000 + hourSeconds * 500)).toEqual(['a']);
  });
});
