/**
 * The rules for failed tests. A failed test fails the run.
 * Only stories over real processes run once more, alone; one that passes then is printed as flaky.
 * More than two flaky files fail the run. Unhandled errors always fail it.
 */

/** Flaky files that a run may have. */
export const FLAKY_FILES_MAX = 2;

/** With more failed stories than this the cause is not load, so nothing runs again. */
const STORIES_RUN_AGAIN_MAX = 6;

/** Stories start processes or a browser. The specs in test/repository only read files. */
const isStory = (file) => /^test\/(?!repository\/)/u.test(file);

/**
 * Runs the tests and applies the rules. `run` takes arguments of the runner; it returns the
 * report of test-reporter.mjs and the exit code.
 */
export function runTests({ run, args = [], runsAgain = true }) {
  const first = run(args);
  const failed = first.files.filter(({ state }) => state === 'failed');
  const stories = failed.filter(({ file }) => isStory(file));
  if (!runsAgain || stories.length === 0 || stories.length > STORIES_RUN_AGAIN_MAX) return result(first, []);
  const second = run([...stories.map(({ file }) => file), '--no-file-parallelism']);
  const passed = new Map(second.files.filter(({ state }) => state === 'passed').map((entry) => [entry.file, entry]));
  const flaky = stories.filter(({ file }) => passed.has(file));
  // With too many flaky files the first results stay, so the failures are in the counts.
  const files =
    flaky.length > FLAKY_FILES_MAX ? first.files : first.files.map((entry) => passed.get(entry.file) ?? entry);
  return result({ ...first, files, errors: [...first.errors, ...second.errors] }, flaky);
}

/** The lines to print, the last being `N passed, N failed, N skipped`, and the exit code. */
function result({ files, errors, exitCode }, flaky) {
  const count = (state) => files.flatMap(({ tests }) => tests).filter((test) => test.state === state).length;
  const brokenFiles = files.filter(
    ({ state, tests }) => state === 'failed' && !tests.some((test) => test.state === 'failed'),
  ).length;
  const counted = count('failed') + brokenFiles + errors.length;
  // The runner can fail without a failed test, for example when it finds no file or has no report.
  const isBroken = counted === 0 && flaky.length === 0 && exitCode !== 0;
  const failures = counted + (isBroken ? 1 : 0);
  const lines = [
    ...flaky.map((entry) => `flaky: ${entry.file}: ${firstFailure(entry)}`),
    ...(flaky.length > FLAKY_FILES_MAX
      ? [`More than ${FLAKY_FILES_MAX} files are flaky, so their first results count.`]
      : []),
    ...errors.map((message) => `unhandled error: ${firstLine(message)}`),
    `${flaky.length} flaky`,
    `${count('passed')} passed, ${failures} failed, ${count('skipped')} skipped`,
  ];
  return { lines, exitCode: failures === 0 ? 0 : 1 };
}

function firstFailure({ tests, errors }) {
  const test = tests.find(({ state }) => state === 'failed');
  return test ? `${test.name}: ${firstLine(test.error)}` : firstLine(errors[0]);
}

function firstLine(message) {
  return (message ?? 'no message').split('\n', 1)[0];
}
