/**
 * Puts each program and the libraries that it imports into a few files: `dist/program` of its app.
 * Node looks up, reads and links files one by one. Of 4,000 files, that took 1.5 s of the 3.5 s of
 * processor time that a hub needed to start, and the npm package had 8,000 files to unpack.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build as bundle, stop } from 'esbuild';
import { unbundled } from './packaging/closure.mjs';
import { replaceFiles } from './packaging/replace-files.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
/** By app: the compiled files that run, by the name of the file that they become. */
const programs = {
  hub: namedAlike(
    'main',
    'flotilla-hub',
    'audit-verify',
    'backup',
    'doctor',
    'health-check',
    'install',
    'restore',
    'upgrade',
  ),
  simulator: { ...namedAlike('main'), 'voice-server': 'voice-server/main' },
  cli: namedAlike('main'),
};

/** What libraries would load if it were there. The code that asks for it does not run. */
const absent = [
  '@apollo/subgraph',
  '@fastify/multipart',
  '@fastify/view',
  '@mercuriusjs/gateway',
  '@nestjs/platform-express',
  '@nestjs/microservices',
  '@nestjs/websockets',
  'class-transformer',
  'class-validator',
  'ts-morph',
  // Makes unpacking of messages faster where it could be compiled.
  'msgpackr-extract',
];

/** Libraries that are CommonJS modules expect these. */
const banner = `import { createRequire as requireOfProgram } from 'node:module';
const require = requireOfProgram(import.meta.url);`;
const define = { __dirname: 'import.meta.dirname', __filename: 'import.meta.filename' };

function namedAlike(...names) {
  return Object.fromEntries(names.map((name) => [name, name]));
}

/** Own modules find their files, such as SQL, from where they were compiled. */
const ownFolders = (outdir) => ({
  name: 'own-folders',
  setup({ onLoad }) {
    onLoad({ filter: /\/(?:libs|apps)\/[^/]+\/dist\/.*\.js$/ }, ({ path: file }) => {
      const text = readFileSync(file, 'utf8');
      if (/\bimport\.meta\.(?!url\b)/.test(text)) throw new Error(`${file} uses import.meta for more than its url.`);
      const place = path.relative(outdir, file).split(path.sep).join('/');
      return { contents: text.replaceAll('import.meta.url', `new URL('${place}', import.meta.url).href`) };
    });
  },
});

/** What esbuild puts around each function and class when it keeps names. */
const slowNaming = 'var __name = (target, value) => __defProp(target, "name", { value, configurable: true });';
/**
 * Names classes, and leaves arrow functions and methods alone. To name each function again whenever
 * it is made took 15 % of the processor time of a call over HTTP.
 */
const fastNaming = `var __name = (target, value) =>
  target.name === value || target.prototype === undefined
    ? target
    : __defProp(target, "name", { value, configurable: true });`;

async function bundleApp(app) {
  const from = path.join(root, 'apps', app, 'dist');
  const outdir = path.join(from, 'program');
  const entries = Object.entries(programs[app]).map(([name, file]) => [name, path.join(from, `${file}.js`)]);
  const { outputFiles } = await bundle({
    entryPoints: Object.fromEntries(entries),
    outdir,
    bundle: true,
    splitting: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    absWorkingDir: root,
    // Nest, GraphQL and the errors of libraries find classes by name.
    keepNames: true,
    chunkNames: '[name]-[hash]',
    logLevel: 'warning',
    legalComments: 'inline',
    external: [...unbundled, ...absent],
    banner: { js: banner },
    define,
    plugins: [ownFolders(outdir)],
  });
  if (!outputFiles.some(({ text }) => text.includes(slowNaming)))
    throw new Error(`esbuild names functions in another way in ${app}. Change slowNaming in scripts/bundle.mjs.`);
  const files = outputFiles.map((file) => ({ path: file.path, text: file.text.replace(slowNaming, fastNaming) }));
  await replaceFiles(outdir, files);
}

/** Needs the compiled apps. */
export async function bundlePrograms() {
  await Promise.all(Object.keys(programs).map(bundleApp));
  // `npm start` becomes the hub, and would keep esbuild with hundreds of MB for as long as it runs.
  await stop();
}
