/**
 * `npm test`: builds, runs every spec and story, and ends with the plain line `N passed, N failed, N skipped` from the runner's own report.
 * `--long` runs the heavy tests in their full size. Other arguments go to the runner, e.g. `npm test -- libs/jobs`.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build, root } from './build.mjs';

build();
const args = process.argv.slice(2);
const isLong = args.includes('--long');
const folder = mkdtempSync(path.join(tmpdir(), 'flotilla-report-'));
const report = path.join(folder, 'report.json');
const { status } = spawnSync(
  process.execPath,
  [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...args.filter((arg) => arg !== '--long'),
  ],
  { cwd: root, stdio: 'inherit', env: { ...process.env, ...(isLong ? { FLOTILLA_TEST_LONG: '1' } : {}) } },
);
let line = '0 passed, 1 failed, 0 skipped';
try {
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, numFailedTestSuites, success } = JSON.parse(
    readFileSync(report, 'utf8'),
  );
  const brokenFiles = !success && numFailedTests === 0 ? Math.max(1, numFailedTestSuites) : 0;
  line = `${numPassedTests} passed, ${numFailedTests + brokenFiles} failed, ${numPendingTests + numTodoTests} skipped`;
} catch (error) {
  console.error(`The runner left no report: ${error.message}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(line);
process.exit(status ?? 1);
