/**
 * `npm test`: builds, runs every spec and story, and ends with the plain line `N passed, N failed, N skipped` from the runner's own report.
 * `--long` runs the heavy tests in their full size. Other arguments go to the runner, e.g. `npm test -- libs/jobs`.
 *
 * Real sockets and processes share the machine with seven other files at a time. So the few files of the short form in which something failed are asked once more, alone, and
 * the second answer counts; which they were is printed before the last line. The long form, which measures, takes no second answer.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build, root } from './build.mjs';

/** More failing files than this are no bad luck. */
const secondAnswersMax = 6;

build();
const args = process.argv.slice(2);
const isLong = args.includes('--long');
const folder = mkdtempSync(path.join(tmpdir(), 'flotilla-report-'));
try {
  process.exitCode = report();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Runs everything, prints the last line, and gives the exit code. */
function report() {
  const first = runOf(args.filter((arg) => arg !== '--long'));
  const failed = first.files.filter(({ status }) => status !== 'passed');
  const again =
    isLong || failed.length === 0 || failed.length > secondAnswersMax
      ? undefined
      : runOf([...failed.map(({ name }) => name), '--no-file-parallelism']);
  const files = again
    ? first.files.map((file) => again.files.find(({ name }) => name === file.name) ?? file)
    : first.files;
  if (again)
    console.log(
      `Asked again, alone, because something in them had failed:\n${failed.map(({ name }) => `  ${path.relative(root, name)}`).join('\n')}`,
    );
  const tests = files.flatMap(({ assertionResults }) => assertionResults);
  const count = (...states) => tests.filter(({ status }) => states.includes(status)).length;
  const brokenFiles = files.filter(
    (file) => file.status !== 'passed' && !file.assertionResults.some(({ status }) => status === 'failed'),
  ).length;
  // The runner fails as a whole, with no test of its own to blame, where an error escaped every test.
  const isBroken = (again ?? first).exitCode !== 0 && count('failed') + brokenFiles === 0 ? 1 : 0;
  const failures = count('failed') + brokenFiles + isBroken;
  console.log(
    `${count('passed')} passed, ${failures} failed, ${count('skipped', 'pending', 'todo', 'disabled')} skipped`,
  );
  return failures === 0 ? 0 : 1;
}

/** One run of vitest: its exit code, and the files with their tests from its own report. */
function runOf(runnerArgs) {
  const file = path.join(folder, 'report.json');
  rmSync(file, { force: true });
  const { status } = spawnSync(
    process.execPath,
    [
      'node_modules/vitest/vitest.mjs',
      'run',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${file}`,
      ...runnerArgs,
    ],
    { cwd: root, stdio: 'inherit', env: { ...process.env, ...(isLong ? { FLOTILLA_TEST_LONG: '1' } : {}) } },
  );
  try {
    return { exitCode: status ?? 1, files: JSON.parse(readFileSync(file, 'utf8')).testResults };
  } catch (error) {
    console.error(`The runner left no report: ${error.message}`);
    return { exitCode: status || 1, files: [] };
  }
}
