import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Fields, Kind } from './kind.js';
import { planOf, type Sides } from './plan.js';

const kind: Kind = {
  kind: 'Thing',
  nameIs: 'name',
  fields: { a: {}, b: {}, tags: {}, urls: {}, file: {} },
  required: [],
  defaults: { b: 1 },
  within: { job: { n: 2 } },
  notes: ['file'],
  sets: ['tags'],
  textLists: ['urls'],
  read: async () => [],
  create: async () => undefined,
  update: async () => undefined,
  remove: async () => undefined,
};

function sides(wanted: Fields | undefined, applied: Fields | undefined, live: Fields | undefined): Sides {
  return {
    kind,
    name: 'x',
    wanted,
    applied: applied && { fields: applied, revision: 1 },
    live: live && { id: '1', name: 'x', fields: live },
  };
}
const plan = (...all: Parameters<typeof sides>) => {
  const { action, changed, conflicts } = planOf(sides(...all));
  return [action, [...changed], conflicts.length];
};

describe('a plan', () => {
  it.each([
    ['makes what is new', { a: 1 }, undefined, undefined, ['create', ['a'], 0]],
    ['changes what the file changed', { a: 2 }, { a: 1 }, { a: 1 }, ['update', ['a'], 0]],
    ['finds what a person changed', { a: 2 }, { a: 1 }, { a: 3 }, ['update', ['a'], 1]],
    ['finds what a person changed back', { a: 1 }, { a: 1 }, { a: 3 }, ['update', ['a'], 1]],
    ['is content when a person did the same', { a: 2 }, { a: 1 }, { a: 2 }, ['adopt', [], 0]],
    ['leaves fields of people alone', { a: 1 }, { a: 1 }, { a: 1, b: 9 }, ['none', [], 0]],
    ['takes over a default', { a: 1, b: 2 }, { a: 1 }, { a: 1, b: 1 }, ['update', ['b'], 0]],
    ['does not take over what a person set', { a: 1, b: 2 }, { a: 1 }, { a: 1, b: 7 }, ['update', ['b'], 1]],
    ['adopts what is equal', { a: 1 }, undefined, { a: 1 }, ['adopt', [], 0]],
    ['gives a field back', { a: 1 }, { a: 1, b: 2 }, { a: 1, b: 2 }, ['adopt', [], 0]],
    ['deletes what it made', undefined, { a: 1 }, { a: 1 }, ['delete', [], 0]],
    ['asks before it deletes what a person changed', undefined, { a: 1 }, { a: 2 }, ['delete', [], 1]],
    ['forgets what is gone', undefined, { a: 1 }, undefined, ['forget', [], 0]],
    ['asks before it makes again what a person deleted', { a: 1 }, { a: 1 }, undefined, ['create', ['a'], 1]],
    ['leaves things of people alone', undefined, undefined, { a: 1 }, ['none', [], 0]],
    ['compares sets without order', { tags: ['x', 'y'] }, { tags: ['y', 'x'] }, { tags: ['y', 'x'] }, ['none', [], 0]],
    ['compares lists in texts without spaces', { urls: 'a,b,' }, { urls: 'a,b,' }, { urls: 'a, b' }, ['none', [], 0]],
    ['compares lists in texts in order', { urls: 'b,a' }, undefined, { urls: 'a, b' }, ['update', ['urls'], 1]],
    ['takes an empty list in a text for missing', { urls: ' ' }, { urls: ' ' }, {}, ['none', [], 0]],
    ['does not compare explanations', { a: 1, file: 'f' }, { a: 1, file: 'g' }, { a: 1 }, ['none', [], 0]],
    ['knows what the hub adds', { job: { t: 1 } }, { job: { t: 1 } }, { job: { t: 1, n: 2 } }, ['none', [], 0]],
    ['sees a change of what the hub adds', { job: { n: 3 } }, undefined, { job: { n: 2 } }, ['update', ['job'], 1]],
    ['takes null for missing', { a: null }, { a: null }, {}, ['none', [], 0]],
  ] as const)('%s', (_title, wanted, applied, live, expected) => {
    expect(plan(wanted as Fields | undefined, applied as Fields | undefined, live as Fields | undefined)).toEqual(
      expected,
    );
  });

  it('takes over what came with the hub, as long as no person changed it', () => {
    const live = { id: '1', name: 'x', fields: { a: 1, b: 7 }, isPristine: true };
    const found = (applied?: Fields) => planOf({ ...sides({ b: 2 }, applied, undefined), live }).conflicts.length;
    expect([found(), found({ b: 3 })]).toEqual([0, 1]);
  });

  it('owns nothing that a limited key saved, and does not delete it', () => {
    const live = { id: '1', name: 'x', fields: { a: 1 }, isLimited: true };
    const found = (wanted?: Fields, applied?: Fields) => {
      const { action, conflicts } = planOf({ ...sides(wanted, applied, undefined), live });
      return [action, conflicts.length];
    };
    expect([found({ a: 1 }), found({ a: 1 }, { a: 1 }), found({ a: 2 }, { a: 1 })]).toEqual([
      ['adopt', 1],
      ['adopt', 1],
      ['update', 1],
    ]);
    expect([found(undefined, { a: 1 }), found()]).toEqual([
      ['forget', 0],
      ['none', 0],
    ]);
  });

  it('does nothing about what has ended, and makes it again with a later end', () => {
    const now = Date.parse('2026-07-01T00:00:00Z');
    const [past, later] = [{ expiresAt: '2026-06-30T00:00:00Z' }, { expiresAt: '2026-08-30T00:00:00Z' }];
    const found = (...all: Parameters<typeof sides>) => {
      const { action, conflicts, note } = planOf({ ...sides(...all), kind: { ...kind, endsAt: 'expiresAt' } }, {}, now);
      return [action, conflicts.length, note];
    };
    const note = 'expiresAt is in the past. Write a later one, or remove this entry from the file.';
    expect([found(past, past, undefined), found(past, undefined, undefined)]).toEqual([
      ['none', 0, note],
      ['none', 0, note],
    ]);
    expect(found(later, past, undefined)).toEqual(['create', 0, undefined]);
    expect(found(later, later, undefined)).toEqual(['create', 1, undefined]);
    expect(found(undefined, past, undefined)).toEqual(['forget', 0, undefined]);
  });

  it('makes a new thing where a field cannot be changed', () => {
    const { fields: all, required, read, create, remove } = kind;
    const fixed = { kind: 'Fixed', nameIs: 'name', fields: all, required, read, create, remove };
    expect(planOf({ ...sides({ a: 2 }, { a: 1 }, { a: 1 }), kind: fixed }).action).toBe('replace');
  });

  const fields = fc.record({ a: fc.jsonValue(), b: fc.integer(), tags: fc.array(fc.string()) }, { requiredKeys: [] });

  it('is empty after an apply, for all files and hubs', () => {
    fc.assert(
      fc.property(fields, fields, (wanted, before) => {
        // An update writes the fields of the file over those of the hub.
        expect(plan(wanted, wanted, { ...before, ...wanted })).toEqual(['none', [], 0]);
      }),
    );
  });

  it('never overwrites a change of a person without a conflict', () => {
    fc.assert(
      fc.property(fields, fields, fields, (wanted, applied, live) => {
        const { changed, conflicts } = planOf(sides(wanted, applied, live));
        for (const field of changed) {
          const isUntouched =
            plan({ [field]: live[field as 'a'] }, { [field]: applied[field as 'a'] }, live)[0] === 'none';
          const isDefault = !Object.hasOwn(applied, field);
          if (!isUntouched && !isDefault) expect(conflicts.some((text) => text.startsWith(`${field} `))).toBe(true);
        }
      }),
    );
  });
});
