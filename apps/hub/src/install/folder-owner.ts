/** Folders that exist already: the service can use only those of its user. */
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';

/** What a hub of root with another data folder leaves in /var/lib/flotilla, and a new disk. */
const HARMLESS = /^(postgresql-[\w.]+|[0-9a-f]{16}|lost\+found)$/;

/** Whether another user has it; false if it does not exist, or if only root can look. */
export function isForeign(folder: string, uid: number): boolean {
  try {
    return statSync(folder).uid !== uid;
  } catch {
    return false;
  }
}

/**
 * Why the folder cannot become that of the service: it has files of another hub or program.
 * Undefined if it can, or if only root can look.
 */
export function dataProblem(
  { dataDir, root, user }: { readonly dataDir: string; readonly root: string; readonly user: string },
  uid: number | undefined,
): string | undefined {
  const folder = path.join(root, dataDir);
  if (uid === undefined || !isForeign(folder, uid)) return undefined;
  const content = entriesOf(folder).find((name) => !HARMLESS.test(name));
  return content === undefined
    ? undefined
    : `The service cannot use ${dataDir}: it belongs to another user than ${user}, and has ${content} in it. ` +
        `To keep its data, stop the hub that used it and run: chown --recursive ${user}:${user} ${dataDir}. ` +
        'Otherwise move it away, or name another folder with --data-dir. Then run this again.';
}

function entriesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
