import type { DeviceId } from '@flotilla/mcp';
import { describe, expect, it } from 'vitest';
import { SweepClock } from './sweep-clock.js';

const hourSeconds = 3_600;

/** What each second of an hour brought, and the step at its end. The fleet grows in its middle. */
async function anHour(
  devices: number,
  added = 0,
): Promise<{ readonly seen: readonly DeviceId[]; readonly steps: readonly number[] }> {
  const ids = Array.from({ length: devices + added }, (_, index) => String(index).padStart(7, '0') as DeviceId);
  let count = devices;
  const clock = new SweepClock({
    deviceCount: () => Promise.resolve(count),
    devicesAfter: (after, limit) => {
      const from = after === '' ? 0 : Number(after) + 1;
      return Promise.resolve(ids.slice(from, Math.min(from + limit, count)));
    },
  });
  const seen: DeviceId[] = [];
  const steps: number[] = [];
  for (let second = 0; second <= hourSeconds; second += 1) {
    if (second === hourSeconds / 2) count += added;
    const due = await clock.due(second * 1_000);
    seen.push(...due);
    if (due.length > 0) steps.push(due.length);
  }
  return { seen, steps };
}

describe('the sweep', () => {
  it.each([1, 40, 1_000, 10_000, 100_000, 300_000])('looks at each of %i devices once an hour', async (devices) => {
    const { seen } = await anHour(devices);
    expect([seen.length, new Set(seen).size]).toEqual([devices, devices]);
  });

  it('reaches the last devices of a fleet that grows', async () => {
    expect((await anHour(1_000, 10)).seen).toHaveLength(1_010);
  });

  it('begins again after each hour', async () => {
    let begun = 0;
    const clock = new SweepClock({
      deviceCount: () => Promise.resolve((begun += 1)),
      devicesAfter: () => Promise.resolve([]),
    });
    for (let second = 0; second < 3 * hourSeconds; second += 1) await clock.due(second * 1_000);
    expect(begun).toBe(3);
  });

  it('gathers devices for up to ten seconds', async () => {
    expect((await anHour(10_000)).steps.length).toBeLessThanOrEqual(hourSeconds / 10 + 1);
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
