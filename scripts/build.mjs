/**
 * * `npm run build`: installs packages when the lock file changed, generates code, compiles what
 * changed. Prints to standard error only, because other scripts call `build()` before they become a
 * program.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
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
  if (status !== 0) {
    console.error(`${path.basename(command)} ${args.join(' ')} failed with exit code ${status ?? 'none (killed)'}.`);
    process.exit(status ?? 1);
  }
}

/** Installs the packages, unless they were installed from the same lock file. */
function installPackages() {
  const stamp = path.join(root, 'node_modules', '.installed-from');
  const wanted = createHash('sha256')
    .update(readFileSync(path.join(root, 'package-lock.json')))
    .digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  console.error('Installing packages (npm ci). This takes about a minute …');
  // Hides warnings of packages that ask for a newer Node than they need (file-type, cookie).
  run(process.platform === 'win32' ? 'npm.cmd' : 'npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
  writeFileSync(stamp, wanted);
}

/** Installs, generates and compiles; quick when nothing changed. */
export function build() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    console.error(
      `Flotilla needs Node 20.19 or newer, and this is Node ${process.versions.node}. Install a newer one.`,
    );
    process.exit(1);
  }
  installPackages();
  run(process.execPath, ['scripts/prisma-generate.mjs']);
  run(process.execPath, ['scripts/generate-schema-types.mjs']);
  run(process.execPath, ['scripts/generate-operation-types.mjs']);
  run(process.execPath, ['node_modules/typescript/bin/tsc', '--build']);
  copySql();
  run(process.execPath, ['scripts/build-dashboard.mjs']);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) build();
