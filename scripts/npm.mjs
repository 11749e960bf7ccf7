/** Runs npm for the scripts that ask it about dependencies, over the lock file alone: what is installed on this machine does not matter. */
import { spawnSync } from 'node:child_process';
import { root } from './build.mjs';

/** JSON of a lock file of a thousand packages, bytes. */
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/** Resolves to npm's exit code and output; a failure to start npm throws. */
export function npm(args) {
  const command = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const options = { cwd: root, encoding: 'utf8', maxBuffer: OUTPUT_BYTES_MAX };
  const { status, stdout, stderr, error } = spawnSync(command, [...args, '--package-lock-only'], options);
  if (error) throw error;
  return { status, stdout, stderr };
}
