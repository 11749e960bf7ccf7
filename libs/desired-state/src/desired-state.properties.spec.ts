/** Random histories of devices, people, edits and crashes, in a model of the worker. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEVICES, Model, PROPERTIES } from './worker-model.suite.js';
import type { Step } from './worker-model.suite.js';

const device = fc.integer({ min: 0, max: DEVICES - 1 });
const state = fc.integer({ min: 0, max: PROPERTIES.length - 1 });
const value = fc.integer({ min: 8, max: 14 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('turn' as const), device, property: fc.constantFrom(0, 1), value }),
  fc.record({ kind: fc.constant('edit' as const), state, desired: value }),
  fc.record({ kind: fc.constant('toggle' as const), state }),
  fc.record({ kind: fc.constant('presence' as const), device }),
  fc.record({ kind: fc.constant('pass' as const), minutes: fc.integer({ min: 1, max: 30 }) }),
  fc.record({ kind: fc.constant('look' as const), device }),
  fc.record({
    kind: fc.constant('end' as const),
    device,
    how: fc.constantFrom('answered' as const, 'refused' as const, 'lost' as const, 'unsent' as const),
  }),
  fc.record({ kind: fc.constant('crash' as const), hasEffect: fc.boolean() }),
);
const rules = fc.tuple(
  ...PROPERTIES.map(() =>
    fc.record({
      onDrift: fc.constantFrom('REVERT' as const, 'HOLD' as const),
      priority: fc.integer({ min: 0, max: 1 }),
      window: fc.constant(undefined),
    }),
  ),
);

describe('random histories of devices, people, edits and crashes', () => {
  it('send only what is needed, one set per device at a time, by precedence, and respect HOLD', () => {
    fc.assert(
      fc.property(rules, fc.array(step, { maxLength: 60 }), (each, steps) => {
        const model = new Model(each);
        model.lookAtAll('CHANGE');
        for (const one of steps) model.do(one);
      }),
      { numRuns: 500 },
    );
  });

  it('end in sync, or in a conflict that a person has to decide', () => {
    fc.assert(
      fc.property(rules, fc.array(step, { maxLength: 40 }), (each, steps) => {
        const model = new Model(each);
        model.lookAtAll('CHANGE');
        for (const one of steps) model.do(one);
        model.settle();
        for (const [key, entry] of model.entries) {
          const [index = 0, place = 0] = key.split(' ').map(Number);
          if (model.enabled[index] !== true || ['CONFLICT', 'OVERRIDDEN'].includes(entry.state)) continue;
          expect(entry.state, key).toBe('IN_SYNC');
          expect(model.at(place).values[PROPERTIES[index] ?? 0]).toBe(model.wantedAt(index).desired);
        }
      }),
      { numRuns: 300 },
    );
  });
});
