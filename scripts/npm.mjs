/** Runs npm commands that read only the lock file, not the installed packages. */
import { spawnSync } from 'node:child_process';
import { root } from './build.mjs';

/** Enough for the output about a thousand packages. */
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/** Returns npm's exit code and output. Throws when npm cannot start. */
export function npm(args) {
  const command = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const options = { cwd: root, encoding: 'utf8', maxBuffer: OUTPUT_BYTES_MAX };
  const { status, stdout, stderr, error } = spawnSync(command, [...args, '--package-lock-only'], options);
  if (error) throw error;
  return { status, stdout, stderr };
}
