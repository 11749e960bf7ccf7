import { describe, expect, it } from 'vitest';
import { filterWithIds, filterWithNames } from './filter-references.js';
import type { Fields } from './kind.js';
import { matches, normalField, variablesIn, withReferences, withSecrets } from './values.js';

const groups = new Map([['Lobby', 'id-1']]);

const fileOf = (kind: string, things: Readonly<Record<string, Fields>>) =>
  new Map([[kind, new Map(Object.entries(things))]]);

/** Variables for the secrets of channels with these names. */
function variablesOf(...names: readonly string[]): readonly string[] {
  const file = withReferences(fileOf('Channel', Object.fromEntries(names.map((name) => [name, { url: '***' }]))));
  return [...(file.get('Channel') ?? new Map<string, Fields>()).values()].flatMap(variablesIn);
}

describe('secrets of a file', () => {
  it('are names of variables, made of the path', () => {
    const shown = { job: { tool: 't', arguments: { wifiPassword: '***', list: [{ pin: '***' }] } } };
    const referring = withReferences(fileOf('RecurringJob', { 'Every night': shown })).get('RecurringJob');
    const job = referring?.get('Every night') ?? {};
    expect(variablesIn(job)).toEqual([
      'RECURRING_JOB_EVERY_NIGHT_JOB_ARGUMENTS_WIFI_PASSWORD',
      'RECURRING_JOB_EVERY_NIGHT_JOB_ARGUMENTS_LIST_0_PIN',
    ]);
    const environment = Object.fromEntries(variablesIn(job).map((name) => [name, `value of ${name.at(-1)}`]));
    expect(withSecrets(job, environment)).toMatchObject({
      job: { tool: 't', arguments: { wifiPassword: 'value of D', list: [{ pin: 'value of N' }] } },
    });
  });

  it('are different variables where names differ in other characters only', () => {
    const names = variablesOf('Ops A', 'Ops-A', 'Ops A 2', '飞书值班', '钉钉');
    expect(names).toEqual([
      'CHANNEL_OPS_A_URL_2262A6',
      'CHANNEL_OPS_A_URL_BD6ABB',
      'CHANNEL_OPS_A_2_URL',
      'CHANNEL___URL_0D2001',
      'CHANNEL___URL_9B8889',
    ]);
  });

  it('keep their variables beside a new thing', () => {
    expect(variablesOf('钉钉')).toEqual(variablesOf('值班', '钉钉').slice(1));
    expect(variablesOf('Ops A', 'Ops-A', 'Ops:A').slice(0, 2)).toEqual(variablesOf('Ops A', 'Ops-A'));
    expect(variablesOf('Ops-', 'Ops值')[0]).toBe(variablesOf('Ops-')[0]);
    // The variable that the first one had before must not become that of the other.
    expect(variablesOf('Ops A', 'Ops-A')).not.toContain(variablesOf('Ops-A')[0]);
  });

  it('fit a masked value of the hub, and an unmasked one that the variable has', () => {
    expect(matches({ fromEnv: 'A' }, '***', {})).toBe(true);
    expect(matches({ fromEnv: 'A' }, 'x', { A: 'x' })).toBe(true);
    expect(matches({ fromEnv: 'A' }, 'y', { A: 'x' })).toBe(false);
    expect(matches({ fromEnv: 'A' }, { fromEnv: 'A' }, {})).toBe(true);
    expect(matches({ fromEnv: 'A' }, { fromEnv: 'B' }, {})).toBe(false);
    expect(matches('plain', '***', {})).toBe(false);
  });
});

describe('values', () => {
  it('are equal as the API means them: times by moment, null as missing', () => {
    expect(matches('2027-01-01T01:00:00+01:00', '2027-01-01T00:00:00.000Z', {})).toBe(true);
    expect(matches({ a: null }, {}, {})).toBe(true);
    expect(matches({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, {})).toBe(true);
    expect(matches({ a: [1] }, { a: [1, 2] }, {})).toBe(false);
    expect(matches(1, '1', {})).toBe(false);
  });
});

describe('what the hub adds', () => {
  const within = { job: { offline: 'WAIT', waves: [{ gate: 'AUTO' }] } } as const;
  const normal = (job: unknown) => normalField({ within }, 'job', job);

  it('is in the comparable form at each depth, and never in place of a value', () => {
    expect(normal({ waves: [{ count: 1 }, { gate: 'MANUAL' }] })).toEqual({
      offline: 'WAIT',
      waves: [{ count: 1, gate: 'AUTO' }, { gate: 'MANUAL' }],
    });
    expect(normal({ offline: 'SKIP' })).toMatchObject({ offline: 'SKIP' });
  });

  it('is in an object that may be missing, where it is there', () => {
    const health = (job: unknown) => normalField({ within: { job: { health: [{ action: 'PAUSE' }] } } }, 'job', job);
    expect(health({ health: {} })).toEqual({ health: { action: 'PAUSE' } });
    expect(matches(health({}), health({ health: {} }), {})).toBe(false);
  });

  it('leaves a missing list missing', () => {
    expect(matches(normal({ waves: null }), normal({}), {})).toBe(true);
    expect(matches(normal({ waves: [] }), normal({}), {})).toBe(false);
  });
});

describe('groups in filters', () => {
  it('are names in files and ids in the API, at any depth', () => {
    const filter = { any: [{ groupId: 'id-1' }, { not: { groupId: 'id-1', tags: ['a'] } }] };
    const named = filterWithNames(filter, { groups });
    expect(named).toEqual({ any: [{ group: 'Lobby' }, { not: { group: 'Lobby', tags: ['a'] } }] });
    expect(filterWithIds(named, { groups })).toEqual(filter);
  });

  it('keep the id of a deleted group, and name a missing one', () => {
    expect(filterWithNames({ groupId: 'gone' }, { groups })).toEqual({ groupId: 'gone' });
    expect(() => filterWithIds({ group: 'Bar' }, { groups })).toThrow('There is no device group "Bar"');
  });
});
