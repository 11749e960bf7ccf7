/**
 * `npm run release -- 0.2.0`: shows what a release changes; `--apply` does it. It writes versions
 * and the section of CHANGELOG.md, commits and tags, and makes packages, checksums, SBOM and
 * provenance in `dist/release/<version>`. It pushes and publishes nothing.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build, root, run } from './build.mjs';
import { packAll } from './package.mjs';
import { released, unreleased } from './release/changelog.mjs';
import { checksumsOf, provenanceOf } from './release/provenance.mjs';
import { commitUntilKept, gitIn } from './release/release-commit.mjs';
import { lockWith, manifestWith, mentioning, mentionsWith, requireNext } from './release/versions.mjs';

const read = (file) => readFileSync(path.join(root, file), 'utf8');
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');
const git = gitIn(root);

/** Each folder with a package.json. */
function workspaces() {
  return JSON.parse(read('package.json'))
    .workspaces.flatMap((pattern) =>
      pattern.endsWith('/*')
        ? readdirSync(path.join(root, path.dirname(pattern))).map((name) => `${path.dirname(pattern)}/${name}`)
        : [pattern],
    )
    .filter((folder) => existsSync(path.join(root, folder, 'package.json')));
}

/** New contents by file. */
function changesFor(version, date) {
  const folders = workspaces();
  const manifests = ['package.json', ...folders.map((folder) => `${folder}/package.json`)];
  return new Map([
    ...manifests.map((file) => [file, manifestWith(read(file), version)]),
    ['package-lock.json', lockWith(read('package-lock.json'), version, folders)],
    ...mentioning.map((file) => [file, mentionsWith(read(file), version)]),
    ['CHANGELOG.md', released(read('CHANGELOG.md'), version, date)],
  ]);
}

async function makeArtifacts(version, commit, startedAt) {
  const folder = path.join(root, 'dist', 'release', version);
  mkdirSync(folder, { recursive: true });
  await build('product');
  const packages = packAll(folder).map(({ file, sha256: hash }) => ({ name: path.basename(file), sha256: hash }));
  const sbom = `flotilla-${version}.cdx.json`;
  run(process.execPath, ['scripts/sbom.mjs', path.join(folder, sbom)]);
  const artifacts = [...packages, { name: sbom, sha256: sha256(readFileSync(path.join(folder, sbom))) }];
  const provenance = provenanceOf({
    artifacts,
    version,
    commit,
    startedAt,
    finishedAt: new Date().toISOString(),
    node: process.versions.node,
    lockSha256: sha256(read('package-lock.json')),
  });
  const statement = `flotilla-${version}.intoto.json`;
  const text = `${JSON.stringify(provenance, undefined, 2)}\n`;
  writeFileSync(path.join(folder, statement), text);
  const all = [...artifacts, { name: statement, sha256: sha256(text) }];
  writeFileSync(path.join(folder, 'SHA256SUMS'), checksumsOf(all));
  return folder;
}

async function main() {
  const [version, ...flags] = process.argv.slice(2);
  const isApplied = flags.includes('--apply');
  requireNext(JSON.parse(read('package.json')).version, version);
  const startedAt = new Date().toISOString();
  const changes = changesFor(version, startedAt.slice(0, 10));
  const tag = `v${version}`;
  if (git('tag', '--list', tag) !== '') throw new Error(`The tag ${tag} exists.`);
  console.log(`Release ${version}, on ${git('rev-parse', '--abbrev-ref', 'HEAD')}:`);
  for (const [file, text] of changes) if (text !== read(file)) console.log(`  write   ${file}`);
  console.log(`  commit  release: ${version}\n  tag     ${tag}`);
  console.log(`  make    dist/release/${version}: packages, SHA256SUMS, SBOM, provenance`);
  console.log(`\n${unreleased(read('CHANGELOG.md')).split('\n').length} lines of CHANGELOG.md are released.`);
  if (!isApplied) return console.log('Nothing was changed. Add --apply to do it; nothing is pushed or published.');
  if (git('status', '--porcelain') !== '') throw new Error('The working tree has changes. Commit them first.');
  const { commit, keep } = commitUntilKept(git, `release: ${version}`, [...changes.keys()], () => {
    for (const [file, text] of changes) writeFileSync(path.join(root, file), text);
  });
  const folder = await makeArtifacts(version, commit, startedAt);
  // Last, so that a failed build leaves no tag.
  git('tag', '--annotate', tag, '--message', `Flotilla ${version}`);
  keep();
  console.log(`Made ${folder}. Check it, then push the commit and the tag ${tag}.`);
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
