/** Lays out a package in an empty folder: compiled code, its libraries, and a manifest. */
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { closureOf, directVersions, layoutOf } from './closure.mjs';

/** Files that only compilers and debuggers read. */
const isForDevelopment = /\.(?:map|d\.[cm]?ts|tsbuildinfo)$|\.(?:spec|suite)\.js$/;

/** Parts of libraries that no program loads, such as engines of other databases (60 MB). */
const unused = [
  /^node_modules\/(?!.*\blicen[cs]e).*\.(?:ts|mts|cts|tsx|md|markdown|ya?ml|flow|html)$/i,
  /^node_modules\/(?:@[^/]+\/)?[^/]+\/(?:tests?|__tests__|benchmarks?|examples?|docs|\.github)(?:\/|$)/,
  /^node_modules\/rxjs\/(?:src|dist\/(?:esm5?|bundles|types))(?:\/|$)/,
  /^node_modules\/es-toolkit\/(?:src|dist\/browser[^/]*|.*\.d\.[cm]?ts$)/,
  /^node_modules\/@prisma\/client\/runtime\/query_compiler_(?!fast_bg\.postgresql\.(?:m?js|wasm-base64\.mjs)$)/,
  /^node_modules\/@prisma\/client\/runtime\/wasm-compiler-edge\./,
];

/** `from '@flotilla/mcp'`, `import('@flotilla/mcp')`, `import '@flotilla/client/schema'`. */
const ownImport = /(\bfrom\s*|\bimport\s*\(?\s*)(['"])@flotilla\/([\w-]+)(\/[\w-]+)?\2/g;

/**
 * `apps`: workspaces with a program. `more`: files and folders that it reads, from the root.
 * `optional`: packages that npm fetches where it can. Returns the manifest.
 */
export function stage(root, target, { name, bin, apps, more, optional = [] }) {
  const closure = closureOf(root, apps, new Set(optional));
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  for (const workspace of closure.workspaces) stageWorkspace(root, target, workspace);
  for (const file of more) stageFolder(root, target, file, file);
  const layout = layoutOf(closure);
  for (const [place, key] of layout) stageFolder(root, target, key, place);
  for (const file of Object.values(bin)) chmodSync(path.join(target, file), 0o755);
  for (const place of layout.keys()) dropOptional(path.join(target, place, 'package.json'), closure.dropped);
  const { version, license, engines, description } = readJson(path.join(root, 'package.json'));
  const dependencies = directVersions(closure);
  const manifest = {
    ...{ name, version, private: true, description, license, type: 'module', engines, bin, dependencies },
    // npm does not complete bundled packages, so all parts for a platform are named here.
    optionalDependencies: { ...Object.fromEntries(closure.native), ...versionsOf(closure.lock, optional) },
    bundleDependencies: Object.keys(dependencies),
  };
  writeJson(path.join(target, 'package.json'), manifest);
  return manifest;
}

/** Packages of the workspace get a path, so that npm never looks for their names in a registry. */
function stageWorkspace(root, target, workspace) {
  for (const folder of ['bin', 'dist'])
    if (existsSync(path.join(root, workspace, folder)))
      stageFolder(root, target, `${workspace}/${folder}`, `${workspace}/${folder}`);
  for (const file of scriptsBelow(path.join(target, workspace))) {
    const text = readFileSync(file, 'utf8');
    const rewritten = text.replaceAll(ownImport, (_whole, before, quote, lib, part) => {
      const found = pathTo(root, `libs/${lib}`, part === undefined ? '.' : `.${part}`);
      const relative = path.relative(path.dirname(file), path.join(target, found)).split(path.sep).join('/');
      return `${before}${quote}${relative.startsWith('.') ? relative : `./${relative}`}${quote}`;
    });
    if (/^(?!\s*(?:\*|\/[/*])).*['"`]@flotilla\//m.test(rewritten))
      throw new Error(`${file} names a package of the workspace in a way that scripts/packaging does not know.`);
    if (rewritten !== text) writeFileSync(file, rewritten);
  }
  const { version } = readJson(path.join(root, workspace, 'package.json'));
  writeJson(path.join(target, workspace, 'package.json'), { name: path.basename(workspace), version, type: 'module' });
}

function pathTo(root, lib, part) {
  const file = readJson(path.join(root, lib, 'package.json')).exports?.[part]?.default;
  if (file === undefined) throw new Error(`${lib} has no compiled export ${part}.`);
  return path.posix.join(lib, file);
}

function stageFolder(root, target, from, to) {
  const source = path.join(root, from);
  cpSync(source, path.join(target, to), {
    recursive: true,
    dereference: true,
    filter: (file) => {
      const inside = path.relative(source, file).split(path.sep).join('/');
      const isNested = inside === 'node_modules' || inside.endsWith('/node_modules');
      return !isNested && !isForDevelopment.test(file) && !unused.some((part) => part.test(`${from}/${inside}`));
    },
  });
}

/** npm would fetch and compile what a bundled package uses only if it is there. */
function dropOptional(file, dropped) {
  const manifest = readJson(file);
  const names = Object.keys(manifest.optionalDependencies ?? {}).filter((name) => dropped.has(name));
  for (const name of names) delete manifest.optionalDependencies[name];
  if (names.length > 0) writeJson(file, manifest);
}

function versionsOf(lock, names) {
  return Object.fromEntries(names.map((name) => [name, lock[`node_modules/${name}`].version]));
}

function scriptsBelow(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.js'))
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name));
}

const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'));
const writeJson = (file, value) => writeFileSync(file, `${JSON.stringify(value, undefined, 2)}\n`);
