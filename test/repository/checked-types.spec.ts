/** `npm run check` checks the types of each TypeScript file, also of a new library or program. */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const checkTypes = new URL('../../scripts/lint/check-types.mjs', import.meta.url);
const { checkedProjects } = (await import(checkTypes.href)) as { readonly checkedProjects: readonly string[] };

function filesOf(project: string): readonly string[] {
  const file = path.join(root, project);
  const config: unknown = ts.readConfigFile(file, (name) => ts.sys.readFile(name)).config;
  return ts.parseJsonConfigFileContent(config, ts.sys, path.dirname(file)).fileNames;
}

function sourcesBelow(folder: string): readonly string[] {
  return readdirSync(path.join(root, folder), { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules' && name !== 'dist')
    .flatMap((entry) => {
      const file = path.join(folder, entry.name);
      return entry.isDirectory() ? sourcesBelow(file) : /\.tsx?$/.test(entry.name) ? [file] : [];
    });
}

it('has each file in a program', () => {
  const checked = new Set(checkedProjects.flatMap(filesOf).map((file) => path.relative(root, file)));
  const unchecked = ['libs', 'apps', 'bench', 'test'].flatMap(sourcesBelow).filter((file) => !checked.has(file));
  // It configures a tool, and runs with each build of the console.
  expect(unchecked).toEqual(['apps/dashboard/vite.config.ts']);
});
