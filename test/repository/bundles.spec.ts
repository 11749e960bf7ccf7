/** How the build writes programs: another process may build or start them at the same time. */
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

interface OutputFile {
  readonly path: string;
  readonly text: string;
}
type ReplaceFiles = (folder: string, files: readonly OutputFile[]) => Promise<void>;

const script = new URL('../../scripts/packaging/replace-files.mjs', import.meta.url).href;
const { replaceFiles } = (await import(script)) as { readonly replaceFiles: ReplaceFiles };

let dist: string;
let program: string;
beforeEach(async () => {
  dist = await mkdtemp(path.join(tmpdir(), 'flotilla bundles-'));
  program = path.join(dist, 'program');
});
afterEach(() => rm(dist, { recursive: true }));

const outputs = (chunk: string): readonly OutputFile[] => [
  { path: path.join(program, 'main.js'), text: `import './${chunk}.js';` },
  { path: path.join(program, `${chunk}.js`), text: chunk.repeat(100_000) },
];

it('replaces what changed, leaves the rest alone, and removes what is no part of the program', async () => {
  await replaceFiles(program, outputs('a'));
  const { mtimeMs } = await stat(path.join(program, 'a.js'));
  await writeFile(path.join(program, 'main.js'), 'old');
  await mkdir(path.join(program, 'former'));
  await replaceFiles(program, outputs('a'));
  expect((await readdir(program)).sort()).toEqual(['a.js', 'main.js']);
  expect((await stat(path.join(program, 'a.js'))).mtimeMs).toBe(mtimeMs);
  expect(await readFile(path.join(program, 'main.js'), 'utf8')).toBe("import './a.js';");
  await replaceFiles(program, outputs('b'));
  expect((await readdir(program)).sort()).toEqual(['b.js', 'main.js']);
  expect(await readdir(dist)).toEqual(['program']);
});

it('lets several builds of the same sources end, and a start in between find the program', async () => {
  await replaceFiles(program, outputs('a'));
  let isBuilding = true;
  const starts = (async () => {
    while (isBuilding) expect(await readFile(path.join(program, 'main.js'), 'utf8')).toContain('a.js');
  })();
  for (let round = 0; round < 20; round++) await Promise.all([1, 2, 3].map(() => replaceFiles(program, outputs('a'))));
  isBuilding = false;
  await starts;
  expect((await readdir(program)).sort()).toEqual(['a.js', 'main.js']);
});
