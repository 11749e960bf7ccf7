/**
 * `npm run check`: formatting, then lint and the types of code and specs, which take a core each.
 */
import { build, run, runTogether } from './build.mjs';

await build();
run(process.execPath, ['node_modules/prettier/bin/prettier.cjs', '--check', '--log-level', 'warn', '.']);
process.env.NX_DAEMON = 'false';
await runTogether(['node_modules/eslint/bin/eslint.js', '--max-warnings', '0', '.'], ['scripts/lint/check-types.mjs']);
