/** Lays out a package in an empty folder: compiled code, its libraries, and a manifest. */
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { closureOf, directVersions, layoutOf, nameOf } from './closure.mjs';

/** Files that only compilers and debuggers read. */
const isForDevelopment = /\.(?:map|d\.[cm]?ts|tsbuildinfo)$|\.(?:spec|suite)\.js$/;

/**
 * Parts of libraries that no program loads, such as engines of other databases (60 MB), from the
 * folder with all libraries. npm unpacks a package three times, so fewer files install faster.
 */
const unused = [
  /^(?!.*\blicen[cs]e).*\.(?:ts|mts|cts|tsx|md|markdown|ya?ml|flow|html|lua|cc|h)$/i,
  /^(?:@[^/]+\/)?[^/]+\/(?:dist\/)?(?:tests?|__tests__|benchmarks?|bench|examples?|docs|\.\w[^/]*)(?:\/|$)/,
  // Node takes one form of each of these, and they are not imported in the other.
  /^@(?:aws-sdk|smithy)\/(?:.*\/)?dist-es(?:\/|$)/,
  /^@graphql-tools\/[^/]+\/cjs(?:\/|$)/,
  /^bullmq\/dist\/esm(?:\/|$)/,
  /^graphql\/.*\.mjs$/,
  /^hono\/dist\/(?:cjs|adapter|jsx|middleware)(?:\/|$)/,
  /^es-toolkit\/(?:src|compat|dist\/(?:browser[^/]*|compat\/(?!_internal|predicate|util).*|fp|server|.*\.js$))(?:\/|$)/,
  /^@opentelemetry\/[^/]+\/build\/(?:esm|esnext)(?:\/|$)/,
  // Its bundles for browsers.
  /^mqtt\/dist(?:\/|$)/,
  /^rxjs\/(?:src|dist\/(?:esm5?|bundles|types))(?:\/|$)/,
  /^zod\/.*\.cjs$/,
  /^@prisma\/client\/runtime\/query_compiler_(?!fast_bg\.postgresql\.(?:m?js|wasm-base64\.mjs)$)/,
  /^@prisma\/client\/runtime\/wasm-compiler-edge\./,
];

/** `from '@flotilla/mcp'`, `import('@flotilla/mcp')`, `import '@flotilla/client/schema'`. */
const ownImport = /(\bfrom\s*|\bimport\s*\(?\s*)(['"])@flotilla\/([\w-]+)(\/[\w-]+)?\2/g;

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
    stageFolder(root, program, key, place, (file) => unused.some((part) => part.test(`${nameOf(key)}/${file}`)));
  for (const file of Object.values(bin)) chmodSync(path.join(program, file), 0o755);
  const { version, license, engines, description } = readJson(path.join(root, 'package.json'));
  const shared = { name, version, private: true, license, type: 'module' };
  // For readers and scanners: what is in node_modules next to it.
  writeJson(path.join(program, 'package.json'), { ...shared, dependencies: directVersions(closure) });
  const bins = Object.entries(bin).map(([command, file]) => [command, `${PROGRAM}/${file}`]);
  const manifest = {
    ...{ ...shared, description, engines, bin: Object.fromEntries(bins) },
    // npm fetches the parts for this platform; Node finds them in the folder above the program.
    optionalDependencies: Object.fromEntries([...closure.native].sort(([a], [b]) => (a < b ? -1 : 1))),
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

function stageFolder(root, target, from, to, isUnused = () => false) {
  const source = path.join(root, from);
  cpSync(source, path.join(target, to), {
    recursive: true,
    dereference: true,
    filter: (file) => {
      const inside = path.relative(source, file).split(path.sep).join('/');
      const isNested = inside === 'node_modules' || inside.endsWith('/node_modules');
      return !isNested && !isForDevelopment.test(file) && !isUnused(inside);
    },
  });
}

function scriptsBelow(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.js'))
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name));
}

const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'));
const writeJson = (file, value) => writeFileSync(file, `${JSON.stringify(value, undefined, 2)}\n`);
