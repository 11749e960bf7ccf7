/**
 * Builds apps/dashboard into its `dist` when its inputs changed, with compressed copies of its
 * files. Imports Vite only when there is something to build.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const app = path.join(root, 'apps/dashboard');
const dist = path.join(app, 'dist');
/** Holds the hash of the inputs of the last build. */
const stamp = path.join(dist, '.built-from');

/** Source files of a folder and its subfolders. */
function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) return ['node_modules', 'dist', 'generated'].includes(entry.name) ? [] : filesBelow(file);
    return /\.(spec\.tsx?|md)$/.test(file) ? [] : [file];
  });
}

function hashOfInputs() {
  const others = [
    'libs/api/schema.graphql',
    'package-lock.json',
    'scripts/build-dashboard.mjs',
    'scripts/generate-operation-types.mjs',
  ];
  const shared = filesBelow(path.join(root, 'libs/client/src'));
  const inputs = [...filesBelow(app), ...shared, ...others.map((name) => path.join(root, name))];
  const hash = createHash('sha256');
  for (const file of inputs.sort())
    hash.update(path.relative(root, file)).update('\0').update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}

/** Compresses once, so that the hub does not compress each response. */
function compressAssets() {
  for (const file of filesBelow(dist).filter((name) => /\.(js|css|svg)$/.test(name))) {
    const bytes = readFileSync(file);
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
    const params = { [constants.BROTLI_PARAM_QUALITY]: 10, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }));
  }
}

const wanted = hashOfInputs();
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
  console.error('Building the console …');
  const vite = await import('vite');
  await vite.build({ root: app, configFile: path.join(app, 'vite.config.ts'), logLevel: 'warn' });
  compressAssets();
  writeFileSync(stamp, wanted);
}
