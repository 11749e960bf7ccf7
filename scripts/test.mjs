/**
 * `npm test`: builds, and runs all specs and the first stories. `--all` runs all stories, `--long`
 * also the heavy ones in full; other arguments go to vitest (`npm test -- libs/jobs`).
 * The last line is `N passed, N failed, N skipped`. The rules are in testing/test-policy.mjs.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build, root } from './build.mjs';
import { firstStories } from './testing/first-stories.mjs';
import { runTests } from './testing/test-policy.mjs';

await build();
const flags = process.argv.slice(2);
const isLong = flags.includes('--long');
const args = flags.filter((flag) => flag !== '--long' && flag !== '--all');
// Who names files wants them, first or not.
const isShort = flags.length === 0;
const folder = mkdtempSync(path.join(tmpdir(), 'flotilla-report-'));
try {
  // The long form measures, so it accepts no second run.
  const { lines, exitCode } = runTests({ run, args, runsAgain: !isLong });
  if (isShort) console.log(`${firstStories.length} stories ran. \`npm test -- --all\` runs all of test/.`);
  console.log(lines.join('\n'));
  process.exitCode = exitCode;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Runs vitest once and returns its report and exit code. */
function run(runnerArgs) {
  const file = path.join(folder, 'report.json');
  rmSync(file, { force: true });
  const reporters = ['--reporter=default', '--reporter=./scripts/testing/test-reporter.mjs'];
  const { status } = spawnSync(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', ...reporters, ...runnerArgs],
    {
      cwd: root,
      stdio: 'inherit',
      env: {
        ...process.env,
        FLOTILLA_TEST_REPORT: file,
        ...(isLong ? { FLOTILLA_TEST_LONG: '1' } : {}),
        ...(isShort ? { FLOTILLA_TEST_STORIES: 'first' } : {}),
      },
    },
  );
  try {
    return { exitCode: status ?? 1, ...JSON.parse(readFileSync(file, 'utf8')) };
  } catch (error) {
    return { exitCode: status || 1, files: [], errors: [`vitest wrote no report: ${error.message}`] };
  }
}
