import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import '../index.js';
import { openTestDatabase, type TestDatabase } from '../test-database.js';
import { SqlFile } from './sql-file.js';

const source = fileURLToPath(new URL('../', import.meta.url));
const fileOf = ({ url }: { readonly url: URL }) => path.relative(source, fileURLToPath(url));
const namesOf = (types: Readonly<Record<string, { readonly name: string }>>) =>
  Object.values(types).map(({ name }) => name);

describe('statements in SQL files', () => {
  let database: TestDatabase;
  let client: pg.Client;

  beforeAll(async () => {
    database = await openTestDatabase();
    client = new pg.Client({ connectionString: database.databaseUrl });
    await client.connect();
  });
  afterAll(async () => {
    await client.end();
    await database.close();
  });

  it('are each declared once', () => {
    const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.sql'));
    expect(SqlFile.loaded.map(fileOf).sort()).toEqual(files.sort());
  });

  it.each(SqlFile.loaded.map((file) => [fileOf(file), file] as const))(
    '%s is declared as it is',
    async (name, file) => {
      const { parameters, row } = file.declaration;
      await client.query('BEGIN');
      try {
        const nothing = Object.keys(parameters).map(() => null);
        const { fields } = await client.query({ name, text: file.statement.text, values: nothing });
        const { rows } = await client.query<{ parameter_types: string[]; result_types: string[] }>(
          `SELECT parameter_types::text[], coalesce(result_types::text[], '{}') AS result_types
         FROM pg_prepared_statements WHERE name = $1`,
          [name],
        );
        expect(rows[0]?.parameter_types).toEqual(namesOf(parameters));
        expect(rows[0]?.result_types).toEqual(namesOf(row));
        expect(fields.map((field) => field.name)).toEqual(Object.keys(row));
      } finally {
        await client.query('ROLLBACK');
      }
    },
  );
});
