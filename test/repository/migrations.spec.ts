/**
 * Migrations expand the schema, so that processes of the former version run on it during an
 * upgrade. One that removes something says since which version nothing uses it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const folder = fileURLToPath(new URL('../../prisma/migrations', import.meta.url));
const [, ...later] = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort();

/** What breaks statements of the former version. */
const breaking: Readonly<Record<string, RegExp>> = {
  'removes something': /\b(DROP|TRUNCATE)\b(?! (CONSTRAINT|INDEX|DEFAULT))/i,
  'renames something': /\bRENAME\b/i,
  'changes the type of a column': /\bALTER COLUMN\b[^,;]*\bTYPE\b/i,
  'requires a value that the former version does not write': /\bSET NOT NULL\b/i,
  'adds a column without a default that must not be null':
    /\bADD COLUMN\b(?![^,;]*\b(DEFAULT|GENERATED)\b)[^,;]*\bNOT NULL\b/i,
};
/** `-- contract: nothing since 0.2.0 uses the column x.` as the first line. */
const contract = /^-- contract: nothing since \d+\.\d+\.\d+ uses /;

const problemsOf = (sql: string): readonly string[] =>
  contract.test(sql)
    ? []
    : Object.keys(breaking).filter((problem) => breaking[problem]?.test(sql.replace(/--.*/g, '')));

describe('a migration', () => {
  it.each(later)('that follows the first only expands the schema, or is marked: %s', (name) => {
    expect(problemsOf(readFileSync(path.join(folder, name, 'migration.sql'), 'utf8'))).toEqual([]);
  });

  it.each([
    ['ALTER TABLE a DROP COLUMN b;', ['removes something']],
    ['ALTER TABLE a RENAME COLUMN b TO c;', ['renames something']],
    ['ALTER TABLE a ALTER COLUMN b SET DATA TYPE int;', ['changes the type of a column']],
    ['ALTER TABLE a ADD COLUMN b int NOT NULL;', ['adds a column without a default that must not be null']],
    ['ALTER TABLE a ADD COLUMN b int NOT NULL DEFAULT 0, ADD COLUMN c int;', []],
    ['ALTER TABLE a ADD COLUMN b int NOT NULL GENERATED ALWAYS AS (f(c)) STORED;', []],
    ['-- contract: nothing since 0.2.0 uses the column b.\nALTER TABLE a DROP COLUMN b;', []],
  ])('is judged: %s', (sql, problems) => {
    expect(problemsOf(sql)).toEqual(problems);
  });
});
