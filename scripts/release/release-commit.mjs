/** Git in the folder of a release, and its commit, which is removed if the release fails. */
import { spawnSync } from 'node:child_process';

/** Returns a function that runs git in this folder, and throws what git prints about a failure. */
export function gitIn(folder) {
  return (...args) => {
    const { status, stdout, stderr, error } = spawnSync('git', args, { cwd: folder, encoding: 'utf8' });
    if (error) throw error;
    if (status !== 0) throw new Error(`git ${args[0]} failed: ${stderr.trim()}`);
    return stdout.trim();
  };
}

/**
 * Calls `write`, which changes these files, and commits them. If the process ends before `keep`,
 * commit and changes are removed: a failed commit or build ends the process.
 */
export function commitUntilKept(git, message, files, write) {
  const before = git('rev-parse', 'HEAD');
  let commit;
  const undo = () => {
    try {
      if (commit === undefined) git('checkout', before, '--', ...files);
      // Files that someone edited meanwhile are not overwritten: then git refuses.
      else git('reset', '--keep', before);
      console.error('The release failed. What it wrote was removed, and nothing is released.');
    } catch (error) {
      console.error(
        `The release failed, and its ${commit ? `commit ${commit} stays` : 'changes stay'}: ${error.message}`,
      );
    }
  };
  const interrupt = () => process.exit(130);
  process.once('exit', undo).once('SIGINT', interrupt);
  write();
  git('commit', '--all', '--message', message);
  commit = git('rev-parse', 'HEAD');
  return { commit, keep: () => void process.off('exit', undo).off('SIGINT', interrupt) };
}
