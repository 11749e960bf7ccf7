/** Checks the types of all code and specs, and writes nothing. Stops at the first failure. */
import { readdirSync } from 'node:fs';
import { root, run } from '../build.mjs';

const projects = ['libs', 'apps'].flatMap((folder) =>
  readdirSync(`${root}/${folder}`).map((name) => `${folder}/${name}/tsconfig.spec.json`),
);
for (const project of [...projects, 'bench/tsconfig.json', 'test/tsconfig.json'])
  run(process.execPath, ['node_modules/typescript/bin/tsc', '--project', project]);
