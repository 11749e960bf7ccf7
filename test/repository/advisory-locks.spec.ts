/**
 * Advisory locks of PostgreSQL share one space of numbers: two uses of one number wait for each
 * other. Each is declared once, in the file that takes it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const made = /^(?:node_modules|dist|generated)$/;

function sourcesBelow(folder: string): readonly string[] {
  return readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) return made.test(entry.name) ? [] : sourcesBelow(file);
    return /(?<!\.spec)\.(?:ts|sql)$/.test(entry.name) ? [file] : [];
  });
}

/** Constants, numbers in statements, hashed names, and seeds of hashes. */
const declared = [
  /\b[A-Z_]*LOCK = (\d[\d_]*)/g,
  /advisory\w*\((\d[\d_]*)/g,
  /hashtext\(('[^']+')\)/g,
  /hashtextextended\(\$1, (\d+)\)/g,
];

const locks = ['libs', 'apps'].flatMap(sourcesBelow).flatMap((file) => {
  const source = readFileSync(path.join(root, file), 'utf8');
  return declared.flatMap((pattern) =>
    [...source.matchAll(pattern)].map(([, lock = '']) => ({ file, lock: lock.replaceAll('_', '') })),
  );
});

describe('advisory locks', () => {
  it('are found in the sources', () => expect(locks.length).toBeGreaterThan(15));

  it('have different numbers', () => {
    const shared = locks.filter(({ lock }, index) => locks.findIndex((other) => other.lock === lock) !== index);
    expect(shared).toEqual([]);
  });
});
