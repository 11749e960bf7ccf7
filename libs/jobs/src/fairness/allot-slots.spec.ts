import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allotSlots, weightOf, type Contender } from './allot-slots.js';

const contender = (id: string, weight: number, wanted: number): Contender<string> => ({
  id,
  weight,
  wanted,
  deficit: 0,
});
const anyContenders = fc
  .array(fc.record({ weight: fc.constantFrom(1, 3, 9), wanted: fc.integer({ min: 1, max: 2_000 }) }), { maxLength: 8 })
  .map((jobs) => jobs.map(({ weight, wanted }, index) => contender(String(index), weight, wanted)));

const sum = (values: Iterable<number>): number => [...values].reduce((total, value) => total + value, 0);

describe('allotSlots', () => {
  it('grants all that is free or all that is wanted, and no job more than it wants', () => {
    fc.assert(
      fc.property(anyContenders, fc.nat(5_000), (contenders, free) => {
        const { granted, waiting } = allotSlots(contenders, free);
        expect(sum(granted.values())).toBe(Math.min(free, sum(contenders.map(({ wanted }) => wanted))));
        for (const { id, wanted } of contenders) {
          const left = waiting.find((other) => other.id === id)?.wanted ?? 0;
          expect((granted.get(id) ?? 0) + left).toBe(wanted);
        }
      }),
    );
  });

  it('divides by weight, also when slots come free one by one', () => {
    for (const portion of [1, 7, 25, 400]) {
      const shares = new Map<string, number>();
      let waiting: readonly Contender<string>[] = [
        contender('low', 1, 10_000),
        contender('mid', 3, 10_000),
        contender('high', 9, 10_000),
      ];
      for (let given = 0; given + portion <= 6_500; given += portion) {
        const round = allotSlots(waiting, portion);
        for (const [id, count] of round.granted) shares.set(id, (shares.get(id) ?? 0) + count);
        waiting = round.waiting;
      }
      for (const [id, weight] of [
        ['low', 1],
        ['mid', 3],
        ['high', 9],
      ] as const) {
        expect(Math.abs((shares.get(id) ?? 0) - (6_500 * weight) / 13), `${id} by ${portion}`).toBeLessThanOrEqual(
          25 * 9 + portion,
        );
      }
    }
  });

  it('starves no job: all have had a turn after one turn of each', () => {
    fc.assert(
      fc.property(anyContenders, (contenders) => {
        const { granted } = allotSlots(contenders, sum(contenders.map(({ weight }) => weight * 25)));
        expect([...granted.values()].filter((count) => count > 0)).toHaveLength(contenders.length);
      }),
    );
  });
});

describe('weightOf', () => {
  it('triples with each priority, and is the highest after ten minutes of waiting', () => {
    expect([1, 2, 3].map((priority) => weightOf(priority, 0))).toEqual([1, 3, 9]);
    expect(weightOf(1, 600_000)).toBe(9);
  });
});
