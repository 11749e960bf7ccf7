/** A folder has few files, so that a reader finds the right one by `ls`. */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

/** Of code in one folder, besides specs and what they share. */
const FILES_MAX = 20;

const root = fileURLToPath(new URL('../..', import.meta.url));
const notOurs = /^(?:node_modules|dist|generated|\..*)$/;
const isCode = (name: string) => /\.(?:tsx?|mjs)$/.test(name) && !/\.(?:spec|suite)\.tsx?$/.test(name);

function foldersBelow(folder: string): readonly (readonly [folder: string, files: number])[] {
  const entries = readdirSync(path.join(root, folder), { withFileTypes: true }).filter(
    ({ name }) => !notOurs.test(name),
  );
  const files = entries.filter((entry) => entry.isFile() && isCode(entry.name)).length;
  const below = entries.filter((entry) => entry.isDirectory());
  return [[folder, files], ...below.flatMap(({ name }) => foldersBelow(path.join(folder, name)))];
}

it('has at most twenty files of code in a folder', () => {
  const folders = ['apps', 'bench', 'libs', 'scripts', 'test'].flatMap(foldersBelow);
  expect(Math.max(...folders.map(([, files]) => files))).toBeGreaterThan(1);
  expect(folders.filter(([, files]) => files > FILES_MAX)).toEqual([]);
});
