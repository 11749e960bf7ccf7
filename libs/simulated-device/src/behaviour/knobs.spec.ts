/** People turn knobs at a rate, at given times, or on request; the device reports the value. */
import { describe, expect, it } from 'vitest';
import { DeviceOnBench } from '../device-on-bench.suite.js';
import { behaviourSchema, type LastingBehaviour } from './behaviour.js';

const HOUR_MS = 3_600_000;

/** Levels of the device at each step of the clock. */
function levelsOver(bench: DeviceOnBench, hours: readonly number[]) {
  return hours.map((hour) => {
    bench.waitUntil(hour * HOUR_MS);
    return bench.device.levels(hour * HOUR_MS);
  });
}

describe('knobs', () => {
  it('turn about as often as their rate says, to other values', () => {
    const bench = new DeviceOnBench({ behaviours: [{ kind: 'knob', knob: 'volume', perHour: 6 }] });
    const [levels] = levelsOver(bench, [100]);
    // 600 on average; the seed gives one value of a Poisson distribution with a deviation of 25.
    expect(levels?.turns).toBeGreaterThan(500);
    expect(levels?.turns).toBeLessThan(700);
    expect(levels?.brightness).toBe(75);
  });

  it('turn the same way with the same seed', () => {
    const behaviours: LastingBehaviour[] = [{ kind: 'knob', knob: 'brightness', perHour: 2 }];
    const hours = Array.from({ length: 24 }, (_, index) => index + 1);
    const [first, second] = [1, 2].map(() => levelsOver(new DeviceOnBench({ behaviours }), hours));
    expect(first).toEqual(second);
    expect(new Set(first?.map(({ brightness }) => brightness)).size).toBeGreaterThan(5);
  });

  it('turn each day at their times, in UTC', () => {
    const bench = new DeviceOnBench({
      behaviours: [{ kind: 'knob', knob: 'volume', at: ['06:30', '22:00'], value: 15 }],
    });
    expect(levelsOver(bench, [6.4, 6.5]).map(({ volume }) => volume)).toEqual([70, 15]);
    bench.do((device, now) => device.behave({ kind: 'turnKnob', knob: 'volume', value: 40 }, now));
    expect(levelsOver(bench, [21.9, 22]).map(({ volume }) => volume)).toEqual([40, 15]);
    bench.do((device, now) => device.behave({ kind: 'turnKnob', knob: 'volume', value: 40 }, now));
    expect(levelsOver(bench, [30.4, 30.5]).map(({ volume }) => volume)).toEqual([40, 15]);
  });

  it('show in the status, also while the device is offline', () => {
    const bench = new DeviceOnBench();
    bench.do((device, now) => device.disconnected(now));
    bench.do((device, now) => device.behave({ kind: 'turnKnob', knob: 'volume', value: 5 }, now));
    bench.do((device, now) => device.connected(now));
    bench.call(1, 'self.get_device_status');
    expect(bench.lastText()).toContain('"volume":5}');
    expect(bench.device.levels(0)).toEqual({ volume: 5, brightness: 75, theme: 'light', turns: 1 });
  });

  it('have no effect where the board has no such knob', () => {
    const bench = new DeviceOnBench({ profile: 'lamp' });
    bench.do((device, now) => device.behave({ kind: 'turnKnob', knob: 'brightness' }, now));
    expect(bench.device.levels(0)).toEqual({ volume: 70, brightness: undefined, theme: undefined, turns: 0 });
  });

  it('rest after `normal`, and begin when the behaviour comes', () => {
    const bench = new DeviceOnBench({ behaviours: [{ kind: 'knob', knob: 'volume', perHour: 3600 }] });
    bench.do((device, now) => device.behave({ kind: 'normal' }, now));
    expect(levelsOver(bench, [1]).map(({ turns }) => turns)).toEqual([0]);
    bench.do((device, now) => device.behave({ kind: 'knob', knob: 'volume', perHour: 3600 }, now));
    expect(levelsOver(bench, [2])[0]?.turns).toBeGreaterThan(3000);
  });

  it('need either a rate or times', () => {
    const refused = [{}, { perHour: 0 }, { perHour: 5, at: ['22:00'] }, { at: ['24:00'] }, { at: [] }];
    for (const rest of refused)
      expect(behaviourSchema.safeParse({ kind: 'knob', knob: 'volume', ...rest }).success).toBe(false);
    expect(behaviourSchema.safeParse({ kind: 'knob', knob: 'volume', at: ['22:00'], value: 0 }).success).toBe(true);
  });
});
