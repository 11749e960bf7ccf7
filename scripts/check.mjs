/**
 * `npm run check`: formatting, lint, and the types of code and specs. Stops at the first failure.
 */
import { readdirSync } from 'node:fs';
import { build, root, run } from './build.mjs';

await build();
run(process.execPath, ['node_modules/prettier/bin/prettier.cjs', '--check', '--log-level', 'warn', '.']);
run(process.execPath, ['node_modules/eslint/bin/eslint.js', '--max-warnings', '0', '.'], {
  env: { ...process.env, NX_DAEMON: 'false' },
});
const projects = ['libs', 'apps'].flatMap((folder) =>
  readdirSync(`${root}/${folder}`).map((name) => `${folder}/${name}/tsconfig.spec.json`),
);
for (const project of [...projects, 'bench/tsconfig.json', 'test/tsconfig.json']) {
  run(process.execPath, ['node_modules/typescript/bin/tsc', '--project', project]);
}
