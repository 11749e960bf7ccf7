/**
 * `npm test`: builds and runs all specs and stories.
 * The last line is `N passed, N failed, N skipped`.
 * `--long` runs the heavy tests in full; other arguments go to vitest (`npm test -- libs/jobs`).
 * The rules for failed tests are in testing/test-policy.mjs.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build, root } from './build.mjs';
import { runTests } from './testing/test-policy.mjs';

await build();
const args = process.argv.slice(2);
const isLong = args.includes('--long');
const folder = mkdtempSync(path.join(tmpdir(), 'flotilla-report-'));
try {
  // The long form measures, so it accepts no second run.
  const { lines, exitCode } = runTests({ run, args: args.filter((arg) => arg !== '--long'), runsAgain: !isLong });
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
      env: { ...process.env, FLOTILLA_TEST_REPORT: file, ...(isLong ? { FLOTILLA_TEST_LONG: '1' } : {}) },
    },
  );
  try {
    return { exitCode: status ?? 1, ...JSON.parse(readFileSync(file, 'utf8')) };
  } catch (error) {
    return { exitCode: status || 1, files: [], errors: [`vitest wrote no report: ${error.message}`] };
  }
}
