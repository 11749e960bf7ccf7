import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isStored } from './decide-point.js';
import type { Point, PointRule } from './decide-point.js';

const rule: PointRule = { deadband: 2, minIntervalSeconds: 60 };

describe('a point', () => {
  it.each([
    ['is the first', undefined, { at: 0, value: 5 }, true],
    ['comes too early', { at: 0, value: 5 }, { at: 59_999, value: 50 }, false],
    ['comes at the interval with a change of the deadband', { at: 0, value: 5 }, { at: 60_000, value: 7 }, true],
    ['changes by less than the deadband', { at: 0, value: 5 }, { at: 60_000, value: 6.9 }, false],
    ['comes after the clock was set back', { at: 3_600_000, value: 5 }, { at: 0, value: 5 }, true],
  ] satisfies [string, Point | undefined, Point, boolean][])('that %s', (_title, last, next, expected) => {
    expect(isStored(rule, { last, next, now: next.at })).toBe(expected);
  });

  it('that changes by the deadband is stored for each decimal, and one that does not change is not', () => {
    const byTenth = { deadband: 0.1, minIntervalSeconds: 0 };
    const tenths = Array.from({ length: 400 }, (_, index) => (index - 200) / 10);
    const isStep = (value: number, change: number) => {
      const next = { at: 1, value: Number((value + change).toFixed(2)) };
      return isStored(byTenth, { last: { at: 0, value }, next, now: 1 });
    };
    expect(tenths.filter((value) => !isStep(value, 0.1))).toEqual([]);
    expect(tenths.filter((value) => isStep(value, 0.09))).toEqual([]);
    expect(isStep(1e20, 0)).toBe(false);
  });

  it('that is an older sample of a ring is not stored again', () => {
    const last = { at: 3_600_000, value: 5 };
    expect(isStored(rule, { last, next: { at: 0, value: 50 }, now: 3_601_000 })).toBe(false);
  });

  const reports = fc.array(fc.tuple(fc.integer({ min: 1, max: 200 }), fc.double({ min: -50, max: 50, noNaN: true })), {
    minLength: 1,
    maxLength: 100,
  });

  it('that is not stored differs from the last stored one by less than the deadband, or came too early', () => {
    fc.assert(
      fc.property(
        reports,
        fc.integer({ min: 0, max: 10 }),
        fc.integer({ min: 0, max: 120 }),
        (steps, deadband, minIntervalSeconds) => {
          let now = 0;
          let last: Point | undefined;
          for (const [seconds, value] of steps) {
            now += seconds * 1_000;
            const next = { at: now, value };
            if (isStored({ deadband, minIntervalSeconds }, { last, next, now })) {
              if (last !== undefined) expect(next.at - last.at).toBeGreaterThanOrEqual(minIntervalSeconds * 1_000);
              last = next;
            } else {
              expect(last).toBeDefined();
              const isEarly = next.at - (last?.at ?? 0) < minIntervalSeconds * 1_000;
              expect(isEarly || Math.abs(value - (last?.value ?? 0)) < deadband).toBe(true);
            }
          }
        },
      ),
    );
  });

  it('is stored again where the deadband is 0 and nothing changed', () => {
    const points = { last: { at: 0, value: 1 }, next: { at: 1, value: 1 }, now: 1 };
    expect(isStored({ deadband: 0, minIntervalSeconds: 0 }, points)).toBe(true);
  });
});
