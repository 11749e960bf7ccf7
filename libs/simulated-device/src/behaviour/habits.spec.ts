/** Firmware crashes and Wi-Fi drops by themselves, at a rate. */
import { describe, expect, it } from 'vitest';
import { DeviceOnBench } from '../device-on-bench.suite.js';
import { behaviourSchema, type LastingBehaviour } from './behaviour.js';

const HOUR_MS = 3_600_000;

/** The bench has no hub: a device that wants to connect is connected at once. */
function liveHours(behaviours: readonly LastingBehaviour[], hours: number): DeviceOnBench {
  const bench = new DeviceOnBench({ behaviours });
  let seen = 0;
  for (let minute = 1; minute <= hours * 60; minute++) {
    bench.waitUntil((minute * HOUR_MS) / 60);
    if (bench.turns.length > seen) bench.do((device, now) => device.connected(now));
    seen = bench.turns.length;
  }
  return bench;
}

function crashesOf(bench: DeviceOnBench): number {
  return bench.effects.filter(({ effect }) => effect.kind === 'notice' && effect.notice.kind === 'crash').length;
}

describe('mishaps', () => {
  it('are crashes of the firmware, about as often as their rate says', () => {
    const bench = liveHours([{ kind: 'crashes', perHour: 0.5 }], 400);
    // 200 on average; the seed gives one value of a Poisson distribution with a deviation of 14.
    expect(crashesOf(bench)).toBeGreaterThan(150);
    expect(crashesOf(bench)).toBeLessThan(250);
    expect(bench.turns.filter(({ effect }) => effect.kind === 'close').length).toBeGreaterThan(150);
  });

  it('happen to the version and the board that are named only', () => {
    const others: LastingBehaviour[] = [
      { kind: 'crashes', perHour: 60, version: '9.9.9' },
      { kind: 'crashes', perHour: 60, board: 'another-board' },
      { kind: 'wifiDrops', perHour: 60, seconds: 5, board: 'another-board' },
    ];
    expect(liveHours(others, 5).turns).toEqual([]);
  });

  it('are drops of the Wi-Fi, from which the device returns after so many seconds', () => {
    const { turns } = liveHours([{ kind: 'wifiDrops', perHour: 1, seconds: 30 }], 100);
    const [first] = turns;
    expect(first?.effect).toEqual({ kind: 'close', how: 'abrupt' });
    const at = first?.at ?? NaN;
    expect(turns[1]).toEqual({ at, effect: { kind: 'reconnectAt', at: at + 30_000 } });
    expect(turns.length).toBeGreaterThan(100);
  });

  it('leave the turns of knobs as they are, and rest after `normal`', () => {
    const knob: LastingBehaviour = { kind: 'knob', knob: 'volume', perHour: 2 };
    const [plain, both] = [[knob], [knob, { kind: 'crashes' as const, perHour: 2 }]].map((behaviours) =>
      liveHours(behaviours, 24).device.levels(24 * HOUR_MS),
    );
    expect(both?.turns).toBe(plain?.turns);
    const bench = new DeviceOnBench({ behaviours: [{ kind: 'crashes', perHour: 60 }] });
    bench.do((device, now) => device.behave({ kind: 'normal' }, now));
    bench.waitUntil(HOUR_MS);
    expect(crashesOf(bench)).toBe(0);
  });

  it('have a rate that a clock can follow', () => {
    for (const perHour of [0, 0.000_1, 3_601, '1'])
      expect(behaviourSchema.safeParse({ kind: 'crashes', perHour }).success).toBe(false);
    expect(behaviourSchema.safeParse({ kind: 'crashes', perHour: 0.001 }).success).toBe(true);
    expect(behaviourSchema.safeParse({ kind: 'wifiDrops', perHour: 1 }).success).toBe(false);
  });
});
