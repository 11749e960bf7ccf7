/** What `flotilla-hub upgrade --check` prints for people. */
import type { PendingMigrations } from '@flotilla/registry';

const WORDS = { READS: 'read once', WRITES: 'written again' } as const;

export function upgradeReport({ isInstalled, pending, unknown, seconds, tables }: PendingMigrations): string {
  if (!isInstalled) return `The database is empty. The first start makes all tables, which takes some seconds.\n`;
  if (unknown.length > 0) return unknownReport(unknown, pending);
  if (pending.length === 0)
    return 'The database has the schema of this version. The next start changes nothing in it.\n';
  const [fast, slow] = seconds.map((each) => (each < 1 ? 'less than 1 s' : `${Math.ceil(each)} s`));
  const work = tables.map(({ table, rows, bytes, work: passes }) => {
    const size = `about ${Math.round(rows)} rows (${megabytes(bytes)})`;
    return `  ${table}: ${size}, ${passes.map((pass) => WORDS[pass]).join(', ')}\n`;
  });
  return (
    `The next start runs these migrations, which cannot be undone. Make a backup first.\n` +
    pending.map((name) => `  ${name}\n`).join('') +
    (work.length === 0 ? 'They work on no existing rows.\n' : `They work on existing tables:\n${work.join('')}`) +
    `Estimate: ${fast === slow ? fast : `${fast} on a fast local disk, up to ${slow} on a slow one`}. ` +
    'It is computed from the sizes of the tables, not measured. The hub does not serve devices during this time.\n'
  );
}

/** A former version runs on the tables of the next one, because migrations only add. */
function unknownReport(unknown: readonly string[], pending: readonly string[]): string {
  const lines = (names: readonly string[]) => names.map((name) => `  ${name}\n`).join('');
  return pending.length > 0
    ? `The database has migrations that this version does not know:\n${lines(unknown)}` +
        `It lacks migrations of this version:\n${lines(pending)}` +
        'Start the version that made it, or a newer one.\n'
    : `The database has migrations of a newer version of Flotilla:\n${lines(unknown)}` +
        'This version runs on it and changes nothing in it, if it is the minor version before that one. ' +
        'Restore a backup of this version instead if it is an older one, or if one of these migrations ' +
        'removes something: its SQL begins with "-- contract".\n';
}

function megabytes(bytes: number): string {
  return bytes < 1e6 ? 'less than 1 MB' : `${Math.round(bytes / 1e6)} MB`;
}
