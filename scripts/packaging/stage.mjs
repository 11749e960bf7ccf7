/** Lays out a package in an empty folder: programs, the files that they read, and a manifest. */
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { closureOf, directVersions, layoutOf, nameOf, unbundled } from './closure.mjs';

/** Files of libraries that only compilers, debuggers and readers use. */
const isForDevelopment = /\.(?:map|d\.[cm]?ts|[cm]?ts|md|cc|h)$/;

/**
 * All that runs is in this folder. npm does not look into it: with `bundleDependencies`, it would
 * unpack the package once more, and leave out the parts for this platform.
 */
const PROGRAM = 'program';

/** `apps`: workspaces with a program. `more`: what it reads besides. `texts`: for people. */
export function stage(root, target, { name, bin, apps, more = [], texts }) {
  const closure = closureOf(root, apps);
  const program = path.join(target, PROGRAM);
  rmSync(target, { recursive: true, force: true });
  mkdirSync(program, { recursive: true });
  for (const workspace of closure.workspaces) stageWorkspace(root, program, workspace);
  for (const file of more) stageFolder(root, program, file, file);
  for (const file of texts) stageFolder(root, target, file, file);
  for (const [place, key] of layoutOf(closure))
    stageFolder(root, program, key, place, (file) => !isForDevelopment.test(file));
  for (const file of Object.values(bin)) chmodSync(path.join(program, file), 0o755);
  writeFileSync(path.join(target, 'THIRD-PARTY-LICENSES'), licensesOf(root, closure));
  const { version, license, engines, description } = readJson(path.join(root, 'package.json'));
  const shared = { name, version, private: true, license, type: 'module' };
  // For readers and scanners: what the programs were made of.
  writeJson(path.join(program, 'package.json'), { ...shared, dependencies: directVersions(closure) });
  const bins = Object.entries(bin).map(([command, file]) => [command, `${PROGRAM}/${file}`]);
  const manifest = {
    ...shared,
    description,
    engines,
    bin: Object.fromEntries(bins),
    // npm fetches the parts for this platform; Node finds them in the folder above the program.
    optionalDependencies: Object.fromEntries([...closure.native].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
  writeJson(path.join(target, 'package.json'), manifest);
  return manifest;
}

/** Of an app, its programs; of a library, the files that they read, such as SQL. */
function stageWorkspace(root, target, workspace) {
  for (const folder of ['bin', 'dist']) {
    const from = `${workspace}/${folder}`;
    const isNeeded = (file) => folder === 'bin' || file.startsWith('program/') || file.endsWith('.sql');
    if (existsSync(path.join(root, from))) stageFolder(root, target, from, from, isNeeded);
  }
  if (!workspace.startsWith('apps/')) return;
  const { version } = readJson(path.join(root, workspace, 'package.json'));
  writeJson(path.join(target, workspace, 'package.json'), { name: path.basename(workspace), version, type: 'module' });
}

/** Copies the files of a folder that are needed, but not the packages in it. */
function stageFolder(root, target, from, to, isNeeded = () => true) {
  const source = path.join(root, from);
  for (const file of filesOf(source)) {
    const isNested = /(?:^|\/)node_modules\//.test(file);
    if (!isNested && isNeeded(file))
      cpSync(path.join(source, file), path.join(target, to, file), { dereference: true });
  }
}

/** The files below a folder, from there; of a file, one empty name. */
function filesOf(source) {
  if (!statSync(source).isDirectory()) return [''];
  return readdirSync(source, { withFileTypes: true, recursive: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => path.relative(source, path.join(entry.parentPath ?? entry.path, entry.name)))
    .map((file) => file.split(path.sep).join('/'));
}

/** The licences of the libraries that the programs contain, as these ask for. */
function licensesOf(root, { packages, lock }) {
  const parts = packages
    .filter((key) => !unbundled.includes(nameOf(key)))
    .map((key) => {
      const files = readdirSync(path.join(root, key)).filter((file) => /^(?:licen[cs]e|copying|notice)/i.test(file));
      const text = files.map((file) => readFileSync(path.join(root, key, file), 'utf8').trim()).join('\n\n');
      return `${nameOf(key)} ${lock[key].version} (${lock[key].license ?? 'see the package'})\n\n${text}`.trim();
    });
  return `${parts.join(`\n\n${'-'.repeat(100)}\n\n`)}\n`;
}

const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'));
const writeJson = (file, value) => writeFileSync(file, `${JSON.stringify(value, undefined, 2)}\n`);
