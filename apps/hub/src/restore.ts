/** `flotilla-hub restore FILE`: restores a backup into an empty hub. [docs/backup.md] */
import { restoreBackup } from './backup/restore-backup.js';
import { runCommand } from './backup/run-command.js';

await runCommand({
  usage: 'Name the backup: flotilla-hub restore /backups/flotilla-2026-11-23.tar.gz',
  flags: ['accept-new-keys'],
  run: async (config, file, { flags, signal }) => {
    const summary = await restoreBackup(config, file, { acceptNewKeys: flags.has('accept-new-keys'), signal });
    process.stderr.write(
      `Restored the backup of ${summary.createdAt}. Make sure that the former hub has stopped, then start this one.\n`,
    );
    if (summary.pausedJobs > 0)
      process.stderr.write(
        `Paused jobs: ${summary.pausedJobs}. After the backup, the former hub may have called more of their devices. ` +
          'Resume or cancel them.\n',
      );
    return summary;
  },
});
