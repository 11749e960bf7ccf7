/**
 * `npm run check`: lint, the types of code and specs, what is unused, and formatting at the same
 * time. On two cores lint takes as long as the others together.
 */
import { build, runTogether } from './build.mjs';

await build();
process.env.NX_DAEMON = 'false';
await runTogether(
  ['node_modules/eslint/bin/eslint.js', '--max-warnings', '0', '.'],
  ['scripts/lint/check-types.mjs'],
  ['node_modules/knip/bin/knip.js', '--no-config-hints', '--no-progress'],
  ['node_modules/prettier/bin/prettier.cjs', '--check', '--log-level', 'warn', '.'],
);
