import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Queryable } from '../database/database.js';
import { queryableOf } from '../database/queryable-of.js';
import { openRegistryFixture, type RegistryFixture } from '../registry-fixture.suite.js';
import { fleetPathsMax, MeasurementIds } from './measurement-ids.js';

/** Of a smallint. */
const LAST_NUMBER = 32_767;
const NOW = Math.floor(Date.now() / 60_000) * 60_000;

let fixture: RegistryFixture;

beforeAll(async () => {
  fixture = await openRegistryFixture();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  for (const table of ['measurement', 'measurement_series', 'measurement_path'])
    await fixture.raw.query(`DELETE FROM ${table}`);
});

const lastUsed = (number: number) => fixture.raw.query(`SELECT setval('measurement_path_id_seq', $1)`, [number]);
const add = (path: string, value = 1) =>
  fixture.registry.measurements.add({ deviceId: 'd1', path, at: NOW + value, value, ruleId: 'rule' });
const numbers = async () => {
  const { rows } = await fixture.raw.query<{ id: number; path: string }>('SELECT id, path FROM measurement_path');
  return new Map(rows.map(({ id, path }) => [path, id]));
};
const storedPaths = async () =>
  (await fixture.registry.measurements.latestOf(['d1'])).get('d1')?.map((one) => one.path);

describe('the numbers of paths', () => {
  it('begin again after the last one, without those that are in use', async () => {
    await fixture.raw.query(
      `INSERT INTO measurement_path (id, path) SELECT n, 'spec:' || n FROM generate_series(1, 5) n`,
    );
    await lastUsed(LAST_NUMBER - 1);
    const paths = ['begin:a', 'begin:b', 'begin:c', 'begin:d'];
    for (const path of paths) add(path);
    await expect.poll(storedPaths).toEqual(paths);
    expect(new Set((await numbers()).values()).size).toBe(9);
  });

  it('are found for the last path of a fleet whose numbers are all next to each other', async () => {
    const refused: string[] = [];
    fixture.registry.measurements.whenRefused((points) => refused.push(...points.map(({ path }) => path)));
    await fixture.raw.query(
      `INSERT INTO measurement_path (id, path) SELECT n, 'spec:' || n FROM generate_series(1, $1) n`,
      [fleetPathsMax - 1],
    );
    await lastUsed(LAST_NUMBER);
    add('last:a');
    await expect.poll(storedPaths).toEqual(['last:a']);
    add('last:b');
    await expect.poll(() => refused).toEqual(['last:b']);
    expect((await numbers()).size).toBe(fleetPathsMax);
  });

  it('are not drawn again at once for a path that a full fleet refuses', async () => {
    await fixture.raw.query(
      `INSERT INTO measurement_path (id, path) SELECT n, 'spec:' || n FROM generate_series(1, $1) n`,
      [fleetPathsMax],
    );
    const texts: string[] = [];
    const query: Queryable['query'] = (statement, values) => {
      texts.push(statement.text);
      return queryableOf(fixture.raw).query(statement, values);
    };
    const ids = new MeasurementIds({ query });
    const draws = () => texts.filter((text) => text.includes('nextval')).length;
    for (const path of ['full:a', 'full:a', 'full:b']) expect((await ids.ofPaths([path])).size).toBe(0);
    expect([texts.length, draws()]).toEqual([8, 1]);
  });

  it('are not taken from memory where another path has them now', async () => {
    add('again:a', 1);
    await expect.poll(storedPaths).toEqual(['again:a']);
    await fixture.raw.query('DELETE FROM measurement_series');
    await fixture.raw.query(`UPDATE measurement_path SET path = 'again:b' WHERE path = 'again:a'`);
    add('again:a', 2);
    await expect.poll(storedPaths).toEqual(['again:a']);
    expect([...(await numbers()).keys()].sort()).toEqual(['again:a', 'again:b']);
  });

  it('are not taken from memory where the path that has them now is in the same batch', async () => {
    add('both:a', 1);
    await expect.poll(storedPaths).toEqual(['both:a']);
    for (const table of ['measurement', 'measurement_series']) await fixture.raw.query(`DELETE FROM ${table}`);
    await fixture.raw.query(`UPDATE measurement_path SET path = 'both:b' WHERE path = 'both:a'`);
    add('both:a', 2);
    add('both:b', 3);
    await expect.poll(storedPaths).toEqual(['both:a', 'both:b']);
    const text = 'SELECT path, value FROM measurement m JOIN measurement_path p ON p.id = m.path_id ORDER BY path';
    expect((await fixture.raw.query(text)).rows).toEqual([
      { path: 'both:a', value: 2 },
      { path: 'both:b', value: 3 },
    ]);
  });
});
