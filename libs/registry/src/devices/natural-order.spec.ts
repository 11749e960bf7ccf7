import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../database/database.js';
import type { DeviceFilter } from '../device-filter.js';
import { openRegistry } from '../index.js';
import type { Registry } from '../index.js';
import { silentLogger } from '../registry-logger.js';
import { openTestDatabase } from '../test-database.js';
import type { TestDatabase } from '../test-database.js';

/** In the order that a person expects. */
const names = [
  '2nd floor',
  '10th floor',
  'lamp',
  'Shelf 2',
  'shelf 3',
  'Shelf 10',
  'Shelf 10 left',
  'Shelf 0100',
  'Shelf 18446744073709551615',
  'Shelf 184467440737095516150',
  'Zähler 1.9',
  'Zähler 1.10',
];

let opened: TestDatabase;
let registry: Registry;
let database: Database;

beforeAll(async () => {
  opened = await openTestDatabase();
  registry = await openRegistry({ databaseUrl: opened.databaseUrl });
  database = new Database(opened.databaseUrl, 2, silentLogger);
  await database.query(
    {
      text: `INSERT INTO device (id, name, dialect, model, reachability, tags)
             SELECT 'd' || place, name, 'XIAOZHI', 'lamp', 'ALWAYS', ARRAY['shop']
             FROM unnest($1::text[]) WITH ORDINALITY AS i(name, place)`,
    },
    [names.toReversed()],
  );
  await database.query(
    { text: `INSERT INTO device (id, dialect, model, reachability) VALUES ('a', 'XIAOZHI', 'lamp', 'ALWAYS')` },
    [],
  );
});

afterAll(async () => {
  await database.close();
  await registry.close();
  await opened.close();
});

async function listed(filter: DeviceFilter | undefined): Promise<readonly (string | undefined)[]> {
  const found: (string | undefined)[] = [];
  let after: string | undefined;
  do {
    const page = await registry.devices.page(filter, 'NAME_ASC', { first: 5, ...(after !== undefined && { after }) });
    found.push(...page.rows.map(({ name }) => name));
    after = page.hasNextPage ? page.cursors.at(-1) : undefined;
  } while (after !== undefined);
  return found;
}

describe('the order of names', () => {
  it('reads numbers as numbers and ignores case, on each page; devices without a name come last', async () => {
    expect(await listed(undefined)).toEqual([...names, undefined]);
  });

  it('is the same for the devices with a tag', async () => {
    expect(await listed({ tags: ['shop'] })).toEqual(names);
  });

  it('follows a new name', async () => {
    await database.query({ text: `UPDATE device SET name = 'Shelf 4' WHERE name = 'lamp'` }, []);
    const moved = ['2nd floor', '10th floor', 'Shelf 2', 'shelf 3', 'Shelf 4', 'Shelf 10'];
    expect((await listed(undefined)).slice(0, 6)).toEqual(moved);
    expect((await listed({ tags: ['shop'] })).slice(0, 6)).toEqual(moved);
  });
});

describe('a name of the greatest length', () => {
  it('fits into the index, even if it has a number at every second place', async () => {
    await database.query(
      { text: `INSERT INTO device (id, name, dialect, reachability) VALUES ('long', $1, 'XIAOZHI', 'ALWAYS')` },
      [Array.from({ length: 500 }, (_, place) => `${place % 10}x`).join('')],
    );
    expect(await listed({ ids: ['long'] })).toHaveLength(1);
  });
});

describe('the migration to natural names', () => {
  it('orders devices of the version before, and leaves its statements valid', async () => {
    const [first, ...later] = await scripts();
    const url = new URL(opened.databaseUrl);
    url.pathname = `/before_${randomUUID().replaceAll('-', '')}`;
    await database.query({ text: `CREATE DATABASE ${url.pathname.slice(1)}` }, []);
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    await client.query(first ?? '');
    await client.query(
      `INSERT INTO device (id, name, dialect, reachability, tags)
       VALUES ('a', 'Shelf 10', 'XIAOZHI', 'ALWAYS', '{shop}'), ('b', 'Shelf 2', 'XIAOZHI', 'ALWAYS', '{shop}')`,
    );
    for (const script of later) await client.query(script);
    for (const table of ['device', 'device_tag']) {
      const { rows } = await client.query<{ name: string }>(`SELECT name FROM ${table} ORDER BY sort_name`);
      expect(rows.map(({ name }) => name)).toEqual(['Shelf 2', 'Shelf 10']);
    }
    const { rows } = await client.query<{ id: string }>(
      `SELECT id FROM device d ORDER BY (d.name IS NULL), (coalesce(d.name, '')), d.id`,
    );
    expect(rows).toHaveLength(2);
    await client.end();
  });
});

/** The scripts of all migrations, oldest first. */
async function scripts(): Promise<readonly string[]> {
  const folder = fileURLToPath(new URL('../../../../prisma/migrations/', import.meta.url));
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  return Promise.all(names.sort().map((name) => readFile(path.join(folder, name, 'migration.sql'), 'utf8')));
}
