import { describe, expect, it } from 'vitest';
import { SignalsUpkeep } from './signals-upkeep.js';
import type { SignalsUpkeepDeps } from './signals-upkeep.js';

const HOUR = 3_600_000;

describe('the upkeep of measurements', () => {
  it('looks for roll-ups once a minute, and at once when the clock was set back', async () => {
    const looks: number[] = [];
    const keepUp = (at: number) => {
      looks.push(at);
      return Promise.resolve({ hours: 0, days: 0 });
    };
    let now = 10 * HOUR;
    const upkeep = new SignalsUpkeep({
      registry: { restarts: { judge: () => Promise.resolve({ restarts: [], events: [] }) }, measurements: { keepUp } },
      clock: { now: () => now },
    } as unknown as SignalsUpkeepDeps);
    for (now of [10 * HOUR, 10 * HOUR + 59_000, 10 * HOUR + 60_000, 7 * HOUR, 7 * HOUR + 5_000]) await upkeep.round();
    expect(looks).toEqual([10 * HOUR, 10 * HOUR + 60_000, 7 * HOUR]);
  });
});
