/**
 * `npm run build`: installs packages when the lock file changed, generates code, compiles what
 * changed. `-- product` leaves out the packages and the code that only tests and benches need.
 * Prints to standard error only, because other scripts call `build()` before they become a program.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { copySql } from './copy-sql.mjs';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

/**
 * Runs a command, with its output on standard error. A failure ends this process with its exit
 * code.
 */
export function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2], ...options });
  if (error) throw error;
  exitIfFailed(command, args, status);
}

/** Runs scripts of Node at the same time. A failure ends this process when all have ended. */
export async function runTogether(...scripts) {
  const ended = await Promise.all(
    scripts.map((args) => once(spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 2, 2] }), 'exit')),
  );
  for (const [index, [status]] of ended.entries()) exitIfFailed(process.execPath, scripts[index], status);
}

function exitIfFailed(command, args, status) {
  if (status === 0) return;
  console.error(`${path.basename(command)} ${args.join(' ')} failed with exit code ${status ?? 'none (killed)'}.`);
  process.exit(status ?? 1);
}

/**
 * TypeScript 7. It compiles everything in 8 s instead of 26 s, and checks types in 15 s instead of
 * 38 s. Version 6 is there for the tools that call its API: ESLint, Nest and Prisma.
 */
export const tsc = 'node_modules/typescript-native/bin/tsc';

/** What a part of the repository needs: workspaces to install, and TypeScript projects. */
const parts = {
  product: {
    install: ['--workspace=libs', '--workspace=apps', '--include-workspace-root'],
    projects: ['hub', 'simulator', 'cli'].map((app) => `apps/${app}/tsconfig.lib.json`),
  },
  // The developers' tools are dependencies of the workspace `test`.
  all: { install: [], projects: ['tsconfig.json'] },
};

/** Installs the packages of a part, unless they were installed from the same lock file. */
function installPackages(part) {
  const stamp = path.join(root, 'node_modules', '.installed-from');
  const hash = createHash('sha256')
    .update(readFileSync(path.join(root, 'package-lock.json')))
    .digest('hex');
  const installed = existsSync(stamp) ? readFileSync(stamp, 'utf8') : '';
  if (installed === `${hash} all` || installed === `${hash} ${part}`) return;
  console.error('Installing packages (npm ci). This takes about a minute …');
  // Hides warnings of packages that ask for a newer Node than they need (file-type, cookie).
  const options = ['--no-audit', '--no-fund', '--loglevel=error', ...parts[part].install];
  run(process.platform === 'win32' ? 'npm.cmd' : 'npm', ['ci', ...options]);
  writeFileSync(stamp, `${hash} ${part}`);
}

/**
 * Installs, generates and compiles `all` or the `product`; quick when nothing changed.
 * Types are not checked, which takes half of the time: `npm run check` does it.
 */
export async function build(part = 'all') {
  if (!(part in parts)) {
    console.error(`There is no part "${part}" to build. The parts are ${Object.keys(parts).join(' and ')}.`);
    process.exit(1);
  }
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    console.error(
      `Flotilla needs Node 20.19 or newer, and this is Node ${process.versions.node}. Install a newer one.`,
    );
    process.exit(1);
  }
  installPackages(part);
  run(process.execPath, ['scripts/prisma-generate.mjs']);
  run(process.execPath, ['scripts/generate-schema-types.mjs']);
  run(process.execPath, ['scripts/generate-operation-types.mjs']);
  await runTogether([tsc, '--build', '--noCheck', ...parts[part].projects], ['scripts/build-dashboard.mjs']);
  copySql();
  // Not at the top: esbuild is there only after the installation.
  const { bundlePrograms } = await import('./bundle.mjs');
  await bundlePrograms();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await build(process.argv[2]);
