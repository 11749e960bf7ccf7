/** `npm run bench`: builds and measures. Arguments go to bench/src/main.ts. */
import { spawnSync } from 'node:child_process';
import { build, root } from './build.mjs';

await build();
const { status } = spawnSync(process.execPath, ['bench/dist/main.js', ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
});
process.exit(status ?? 1);
