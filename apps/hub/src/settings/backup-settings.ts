/** Settings of the commands `backup` and `restore`. The hub itself does not use them. */
import { textOfLength } from './setting-kinds.js';

export const backupSettings = {
  FLOTILLA_BACKUP_PASSPHRASE: textOfLength(12),
};
