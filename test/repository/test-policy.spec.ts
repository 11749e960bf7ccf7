/**
 * The rules of `npm test` for failed tests, over made-up reports; the reporter, over a small suite.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

type State = 'passed' | 'failed' | 'skipped';
interface Test {
  readonly name: string;
  readonly state: State;
  readonly error?: string;
}
interface File {
  readonly file: string;
  readonly state: State;
  readonly errors: readonly string[];
  readonly tests: readonly Test[];
}
interface Report {
  readonly files: readonly File[];
  readonly errors: readonly string[];
  readonly exitCode: number;
}
interface TestPolicy {
  runTests(options: {
    readonly run: (args: readonly string[]) => Report;
    readonly args?: readonly string[];
    readonly runsAgain?: boolean;
  }): { readonly lines: readonly string[]; readonly exitCode: number };
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const { runTests } = (await import(
  new URL('../../scripts/testing/test-policy.mjs', import.meta.url).href
)) as TestPolicy;
const { firstStories } = (await import(new URL('../../scripts/testing/first-stories.mjs', import.meta.url).href)) as {
  readonly firstStories: readonly string[];
};

const passing = (file: string): File => ({
  file,
  state: 'passed',
  errors: [],
  tests: [{ name: 'answers', state: 'passed' }],
});
const failing = (file: string): File => ({
  file,
  state: 'failed',
  errors: [],
  tests: [{ name: 'answers', state: 'failed', error: 'expected 1 to be 2\n  at line 3' }],
});
const report = (files: readonly File[], errors: readonly string[] = []): Report => ({
  files,
  errors,
  exitCode: errors.length > 0 || files.some(({ state }) => state === 'failed') ? 1 : 0,
});
const story = (name: string) => `test/hub/${name}.spec.ts`;

/** Runs the policy over one report for each run of the runner. */
function outcome(reports: readonly Report[], runsAgain = true) {
  const runs: (readonly string[])[] = [];
  const run = (args: readonly string[]) => {
    const next = reports[runs.length];
    if (!next) throw new Error('The runner was started once too often.');
    runs.push(args);
    return next;
  };
  return { ...runTests({ run, args: ['test'], runsAgain }), runs };
}

describe('a run of the tests', () => {
  it('passes when all tests passed or were skipped', () => {
    const skipped: File = { ...passing('apps/b.spec.ts'), tests: [{ name: 'waits', state: 'skipped' }] };
    expect(outcome([report([passing('libs/a.spec.ts'), skipped])])).toEqual({
      lines: ['0 flaky', '1 passed, 0 failed, 1 skipped'],
      exitCode: 0,
      runs: [['test']],
    });
  });

  it.each(['libs/a/src/a.spec.ts', 'apps/a/src/a.spec.ts', 'bench/src/a.spec.ts', 'test/repository/a.spec.ts'])(
    'fails after one failed test in %s, without a second try',
    (file) => {
      expect(outcome([report([failing(file), passing(story('b'))])])).toEqual({
        lines: ['0 flaky', '1 passed, 1 failed, 0 skipped'],
        exitCode: 1,
        runs: [['test']],
      });
    },
  );

  it('runs a failed story once more, alone, and prints it as flaky when it passes then', () => {
    const reports = [report([failing(story('a')), passing(story('b'))]), report([passing(story('a'))])];
    expect(outcome(reports)).toEqual({
      lines: [`flaky: ${story('a')}: answers: expected 1 to be 2`, '1 flaky', '2 passed, 0 failed, 0 skipped'],
      exitCode: 0,
      runs: [['test'], [story('a'), '--no-file-parallelism']],
    });
  });

  it('fails when a story fails twice', () => {
    const reports = [report([failing(story('a'))]), report([failing(story('a'))])];
    expect(outcome(reports)).toMatchObject({ lines: ['0 flaky', '0 passed, 1 failed, 0 skipped'], exitCode: 1 });
  });

  it('fails when a spec failed, although the failed story passed in its second run', () => {
    const reports = [report([failing('libs/a.spec.ts'), failing(story('a'))]), report([passing(story('a'))])];
    expect(outcome(reports)).toMatchObject({
      lines: [expect.stringMatching(/^flaky: /), '1 flaky', '1 passed, 1 failed, 0 skipped'],
      exitCode: 1,
    });
  });

  it('passes with two flaky files and fails with three, whose first results count then', () => {
    const flaky = (names: readonly string[]) =>
      outcome([report(names.map((name) => failing(story(name)))), report(names.map((name) => passing(story(name))))]);
    expect(flaky(['a', 'b'])).toMatchObject({ exitCode: 0 });
    const three = flaky(['a', 'b', 'c']);
    expect(three.exitCode).toBe(1);
    expect(three.lines.slice(-3)).toEqual([
      'More than 2 files are flaky, so their first results count.',
      '3 flaky',
      '0 passed, 3 failed, 0 skipped',
    ]);
  });

  it('runs nothing again when many stories failed, or in the long form', () => {
    const many = report(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => failing(story(name))));
    expect(outcome([many])).toMatchObject({ exitCode: 1, runs: [['test']] });
    expect(outcome([report([failing(story('a'))])], false)).toMatchObject({ exitCode: 1, runs: [['test']] });
  });

  it('counts a file that broke outside its tests as one failure', () => {
    const broken: File = { file: 'libs/a.spec.ts', state: 'failed', errors: ['cannot import b'], tests: [] };
    expect(outcome([report([broken])])).toMatchObject({ lines: ['0 flaky', '0 passed, 1 failed, 0 skipped'] });
    const story1 = { ...broken, file: story('a') };
    expect(outcome([report([story1]), report([passing(story('a'))])]).lines[0]).toBe(
      `flaky: ${story('a')}: cannot import b`,
    );
  });

  it('fails after an error outside all tests, also when the failed story passes in its second run', () => {
    const reports = [report([failing(story('a'))], ['socket closed\n at x']), report([passing(story('a'))])];
    expect(outcome(reports)).toMatchObject({
      lines: [
        expect.stringMatching(/^flaky: /),
        'unhandled error: socket closed',
        '1 flaky',
        '1 passed, 1 failed, 0 skipped',
      ],
      exitCode: 1,
    });
  });

  it('fails when the runner failed without a failed test', () => {
    expect(outcome([{ files: [], errors: [], exitCode: 1 }])).toMatchObject({
      lines: ['0 flaky', '0 passed, 1 failed, 0 skipped'],
      exitCode: 1,
    });
  });
});

describe('the reporter', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'flotilla-suite-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('writes the files, the tests with their first error, and errors outside all tests', () => {
    const suite = (name: string, text: string) => writeFileSync(path.join(folder, name), text);
    suite('a.spec.js', `describe('a hub', () => { it('starts', () => {}); it.skip('stops', () => {}); });`);
    suite('b.spec.js', `it('fails', () => { expect(1).toBe(2); });`);
    suite('c.spec.js', `throw new Error('cannot load');`);
    suite('d.spec.js', `it('escapes', async () => { setTimeout(() => { throw new Error('escaped'); }); await 0; });`);
    const file = path.join(folder, 'report.json');
    const reporter = path.join(root, 'scripts/testing/test-reporter.mjs');
    const runner = path.join(root, 'node_modules/vitest/vitest.mjs');
    const options = ['run', '--root', folder, '--globals', `--reporter=${reporter}`];
    const { status } = spawnSync(process.execPath, [runner, ...options], {
      cwd: root,
      env: { ...process.env, FLOTILLA_TEST_REPORT: file },
    });
    expect(status).toBe(1);
    const { files, errors } = JSON.parse(readFileSync(file, 'utf8')) as Report;
    expect([...files].sort((a, b) => a.file.localeCompare(b.file))).toMatchObject([
      {
        file: 'a.spec.js',
        state: 'passed',
        tests: [
          { name: 'a hub > starts', state: 'passed' },
          { name: 'a hub > stops', state: 'skipped' },
        ],
      },
      {
        file: 'b.spec.js',
        state: 'failed',
        tests: [{ name: 'fails', state: 'failed', error: expect.stringContaining('expected 1 to be 2') }],
      },
      { file: 'c.spec.js', state: 'failed', errors: ['cannot load'], tests: [] },
      { file: 'd.spec.js', tests: [{ name: 'escapes', state: 'passed' }] },
    ]);
    expect(errors).toEqual(['escaped']);
  });
});

describe('the first stories', () => {
  it('exist, and are in each room of test/', () => {
    expect(firstStories.filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
    const hasStories = (room: string) =>
      room !== 'repository' && readdirSync(path.join(root, 'test', room)).some((name) => name.endsWith('.spec.ts'));
    const rooms = readdirSync(path.join(root, 'test'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && hasStories(entry.name))
      .map(({ name }) => name);
    expect([...new Set(firstStories.map((file) => file.split('/')[1]))].sort()).toEqual(rooms.sort());
  });
});
