/** `flotilla-hub backup FILE`: writes a backup of this hub, which may run. [docs/backup.md] */
import { makeBackup } from './backup/make-backup.js';
import { runCommand } from './backup/run-command.js';

await runCommand({
  usage: 'Name the new file: flotilla-hub backup /backups/flotilla-2026-11-23.tar.gz',
  flags: [],
  run: async (config, file, { signal }) => {
    const summary = await makeBackup(config, file, signal);
    const secrets = 'It has secrets: keep it where only administrators can read it.';
    process.stderr.write(`The backup is in ${file}. ${summary.encrypted ? 'It is encrypted.' : secrets}\n`);
    return summary;
  },
});
