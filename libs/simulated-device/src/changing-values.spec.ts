/** How the charge and the temperature of a simulated device change. */
import { describe, expect, it } from 'vitest';
import { batteryOf, chargeAt, temperatureAt } from './changing-values.js';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

describe('a battery', () => {
  it.each([0, 0.25, 0.5, 0.99])('drains by one percent at a time, is charged, and drains again (%d)', (chance) => {
    const battery = batteryOf(chance);
    const charges = Array.from({ length: DAY / MINUTE }, (_, minute) => chargeAt(battery, minute * MINUTE));
    const levels = charges.map(({ level }) => level);
    expect([Math.min(...levels), Math.max(...levels)]).toEqual([8, 100]);
    for (const [index, { charging, level }] of charges.entries()) {
      const next = charges[index + 1];
      if (next === undefined || next.charging !== charging) continue;
      expect(charging ? next.level - level : level - next.level).toBeGreaterThanOrEqual(0);
      if (!charging) expect(level - next.level).toBeLessThanOrEqual(1);
    }
    expect(new Set(charges.map(({ charging }) => charging)).size).toBe(2);
  });

  it('is not at the same level in all devices', () => {
    const levels = Array.from({ length: 50 }, (_, device) => chargeAt(batteryOf(device / 50), DAY).level);
    expect(new Set(levels).size).toBeGreaterThan(20);
  });
});

describe('a temperature', () => {
  it('has its mean over a day, with a warm afternoon', () => {
    const hours = Array.from({ length: 24 }, (_, hour) => temperatureAt(40, hour * 60 * MINUTE));
    expect(hours.reduce((sum, each) => sum + each, 0) / 24).toBeCloseTo(40, 1);
    expect(hours[15]).toBe(43);
    expect(hours[3]).toBe(37);
  });
});
