/**
 * `npm run package [-- <folder>]`: writes two npm packages with all that they need, by default into
 * `dist/packages`: the hub with its console, migrations and simulator, and the command line.
 * Publishes nothing. Prints a line of JSON with their files.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, root } from './build.mjs';
import { stage } from './packaging/stage.mjs';

const texts = ['LICENSE', 'README.md', 'CHANGELOG.md'];

export const products = [
  {
    name: 'flotilla-hub',
    bin: { 'flotilla-hub': 'apps/hub/bin/flotilla-hub' },
    apps: ['apps/hub', 'apps/simulator'],
    more: ['apps/dashboard/dist', 'libs/api/schema.graphql', 'prisma/migrations'],
    texts: [...texts, '.env.example'],
  },
  {
    name: 'flotilla-cli',
    bin: { flotilla: 'apps/cli/bin/flotilla.js' },
    apps: ['apps/cli'],
    texts,
  },
];

/** Packs one product into `folder`, from what was built. */
export function pack(product, folder) {
  const staging = path.join(folder, `.${product.name}`);
  const { name, version } = stage(root, staging, product);
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const args = ['pack', '--pack-destination', folder, '--ignore-scripts', '--offline', '--loglevel=error'];
  const { status, stderr, error } = spawnSync(npm, args, { cwd: staging, encoding: 'utf8' });
  if (error) throw error;
  if (status !== 0) throw new Error(`npm could not pack ${name}:\n${stderr}`);
  rmSync(staging, { recursive: true });
  const file = path.join(folder, `${name}-${version}.tgz`);
  const sha256 = createHash('sha256').update(readFileSync(file)).digest('hex');
  return { name, version, file, bytes: statSync(file).size, sha256 };
}

/** Packs all products. The folder is outside of the sources, and is not committed. */
export function packAll(folder = path.join(root, 'dist', 'packages')) {
  mkdirSync(folder, { recursive: true });
  return products.map((product) => pack(product, folder));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder] = process.argv.slice(2);
  await build('product');
  const packages = packAll(folder === undefined ? undefined : path.resolve(folder));
  for (const { file, bytes } of packages) console.error(`${file} (${(bytes / 1e6).toFixed(1)} MB)`);
  console.log(JSON.stringify({ packages }));
}
