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
 * Commits all changes. If the process ends before `keep`, the commit is removed: a failed build
 * ends the process.
 */
export function commitUntilKept(git, message) {
  const before = git('rev-parse', 'HEAD');
  git('commit', '--all', '--message', message);
  const commit = git('rev-parse', 'HEAD');
  const undo = () => {
    try {
      // Files that someone edited meanwhile are not overwritten: then git refuses.
      git('reset', '--keep', before);
      console.error('The release failed. Its commit was removed, and nothing is released.');
    } catch (error) {
      console.error(`The release failed, and its commit ${commit} stays: ${error.message}`);
    }
  };
  const interrupt = () => process.exit(130);
  process.once('exit', undo).once('SIGINT', interrupt);
  return { commit, keep: () => void process.off('exit', undo).off('SIGINT', interrupt) };
}
