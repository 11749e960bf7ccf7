/** The texts of a release, over made-up inputs. Nothing is released. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A process, because the scripts have no types. Returns the value or the message of the error. */
function evaluate(module: string, call: string): unknown {
  const script = `import * as it from './scripts/release/${module}.mjs';
    const show = (value) => console.log(JSON.stringify({ value }));
    try { show(${call}); } catch (error) { show(error.message); }`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: root,
    encoding: 'utf8',
  });
  return (JSON.parse(stdout) as { readonly value?: unknown }).value;
}
const text = (value: string) => JSON.stringify(value);

const changelog = '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n\n## [0.1.0] - 2026-11-22\n\nFirst.\n';

describe('a release', () => {
  it('moves what is unreleased below its version and date', () => {
    expect(evaluate('changelog', `it.unreleased(${text(changelog)})`)).toBe('### Added\n\n- A thing.');
    expect(evaluate('changelog', `it.released(${text(changelog)}, '0.2.0', '2026-12-01')`)).toBe(
      '# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n\n### Added\n\n- A thing.\n\n' +
        '## [0.1.0] - 2026-11-22\n\nFirst.\n',
    );
    const empty = changelog.replace('### Added\n\n- A thing.\n\n', '');
    expect(evaluate('changelog', `it.released(${text(empty)}, '0.2.0', 'x')`)).toContain('nothing to release');
  });

  it.each([
    ['0.2.0', null],
    ['1.0.0', null],
    ['0.1.1', null],
    ['0.1.0', '0.1.0 is not after 0.1.0'],
    ['0.0.9', '0.0.9 is not after 0.1.0'],
    ['0.2', '"0.2" is not a version'],
    ['v0.2.0', '"v0.2.0" is not a version'],
  ])('has a version after the former one: %s', (next, problem) => {
    const found = evaluate('versions', `it.requireNext('0.1.0', ${text(next)}) ?? null`);
    if (problem === null) expect(found).toBeNull();
    else expect(found).toContain(problem);
  });

  it.each<readonly [title: string, end: string, exitCode: number, subject: string, inWrite?: string]>([
    ['a write that fails', 'keep()', 1, 'before', 'throw new Error("full disk")'],
    ['a commit that fails', 'keep()', 1, 'before', 'process.env.GIT_AUTHOR_DATE = "never"'],
    ['a build that ends the process', 'process.exit(3)', 3, 'before'],
    ['an error', 'throw new Error("full disk")', 1, 'before'],
    ['what it should', 'keep()', 0, 'release: 9.9.9'],
  ])('has its commit only if it succeeds: after %s', (_title, end, exitCode, subject, inWrite = '') => {
    const folder = mkdtempSync(path.join(tmpdir(), 'flotilla-release-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const git = (...args: string[]) => spawnSync('git', args, { cwd: folder, encoding: 'utf8' }).stdout.trim();
    git('init', '--quiet');
    for (const [name, value] of [
      ['user.name', 'A'],
      ['user.email', 'a@example.com'],
    ] as const)
      git('config', name, value);
    writeFileSync(path.join(folder, 'version'), '9.9.8\n');
    git('add', '--all');
    git('commit', '--quiet', '--message', 'before');
    const script = `import { writeFileSync } from 'node:fs';
      import { commitUntilKept, gitIn } from './scripts/release/release-commit.mjs';
      const { keep } = commitUntilKept(gitIn(${text(folder)}), 'release: 9.9.9', ['version'], () => {
        writeFileSync(${text(path.join(folder, 'version'))}, '9.9.9\\n');
        ${inWrite};
      });
      ${end};`;
    const { status } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], { cwd: root });
    expect(status).toBe(exitCode);
    expect(git('log', '-1', '--format=%s')).toBe(subject);
    expect(git('status', '--porcelain')).toBe('');
    expect(readFileSync(path.join(folder, 'version'), 'utf8')).toBe(subject === 'before' ? '9.9.8\n' : '9.9.9\n');
  });

  it('writes the version of the package alone', () => {
    const manifest = '{\n  "name": "a",\n  "version": "0.1.0",\n  "dependencies": {\n    "b": "0.1.0"\n  }\n}\n';
    expect(evaluate('versions', `it.manifestWith(${text(manifest)}, '0.2.0')`)).toBe(
      manifest.replace('"version": "0.1.0"', '"version": "0.2.0"'),
    );
    const lock = {
      version: '0.1.0',
      packages: { '': { version: '0.1.0' }, a: { version: '0.1.0' }, 'node_modules/b': { version: '0.1.0' } },
    };
    const written = evaluate('versions', `it.lockWith(${text(JSON.stringify(lock))}, '0.2.0', ['a'])`);
    expect(JSON.parse(String(written))).toEqual({
      version: '0.2.0',
      packages: { '': { version: '0.2.0' }, a: { version: '0.2.0' }, 'node_modules/b': { version: '0.1.0' } },
    });
  });

  it('writes the version that the hub reports, and that of the first steps in documents', () => {
    const { stdout } = spawnSync(process.execPath, ['scripts/release.mjs', '999.0.0'], { cwd: root, encoding: 'utf8' });
    const files = [...stdout.matchAll(/^ {2}write {3}(\S+)/gm)].map(([, file]) => file ?? '');
    for (const file of [
      'README.md',
      'libs/api/src/mcp/session/request-server.ts',
      'libs/mcp/src/messages/initialize.ts',
    ])
      expect(files).toContain(file);
    const given =
      "{ name: 'flotilla', version: '0.1.0' } ./flotilla-hub-0.1.0.tgz registry/flotilla:0.1.0\\nsince 0.1.0";
    expect(evaluate('versions', `it.mentionsWith("${given}", '0.2.0')`)).toBe(
      "{ name: 'flotilla', version: '0.2.0' } ./flotilla-hub-0.2.0.tgz registry/flotilla:0.2.0\nsince 0.1.0",
    );
  });

  it('states what was built from what, in the form of SLSA', () => {
    const input = {
      artifacts: [{ name: 'a.tgz', sha256: 'ab' }],
      version: '0.2.0',
      commit: 'c0ffee',
      lockSha256: '12',
      node: '24.1.0',
      startedAt: '2026-12-01T00:00:00Z',
      finishedAt: '2026-12-01T00:01:00Z',
    };
    expect(evaluate('provenance', `it.provenanceOf(${JSON.stringify(input)})`)).toMatchObject({
      _type: 'https://in-toto.io/Statement/v1',
      predicateType: 'https://slsa.dev/provenance/v1',
      subject: [{ name: 'a.tgz', digest: { sha256: 'ab' } }],
      predicate: { buildDefinition: { resolvedDependencies: [{ digest: { gitCommit: 'c0ffee' } }, {}] } },
    });
    expect(evaluate('provenance', `it.checksumsOf(${JSON.stringify(input.artifacts)})`)).toBe('ab  a.tgz\n');
  });

  it('is shown, and changes nothing, without --apply', () => {
    const { stdout, status } = spawnSync(process.execPath, ['scripts/release.mjs', '999.0.0'], {
      cwd: root,
      encoding: 'utf8',
    });
    expect(status).toBe(0);
    expect(stdout).toContain('Nothing was changed.');
  });
});
