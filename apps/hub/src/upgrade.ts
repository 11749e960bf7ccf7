/**
 * `flotilla-hub upgrade --check [--json]`: which migrations the next start would run on this
 * database, and about how long that takes. Changes nothing. [docs/server.md]
 */
import './production.js';
import { parseArgs } from 'node:util';
import { openEmbeddedPostgres, pendingMigrations } from '@flotilla/registry';
import { messageOf } from './error-message.js';
import { keepFilesPrivate } from './data-folder.js';
import { loadEnvFile } from './environment/env-file.js';
import { readConfig } from './settings/config.js';
import { upgradeReport } from './upgrade/upgrade-report.js';

/** 1: the database has the migrations of another version instead. 2: it could not be read. */
const EXIT = { other: 1, failed: 2 } as const;

const USAGE = 'Use: flotilla-hub upgrade --check [--json]. The upgrade itself is the next start of the hub.';

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { check: { type: 'boolean' }, json: { type: 'boolean' } } });
  if (values.check !== true) throw new Error(USAGE);
  loadEnvFile();
  keepFilesPrivate();
  const { databaseUrl, dataDir } = readConfig(process.env);
  const embedded = databaseUrl === undefined ? await openEmbeddedPostgres(dataDir) : undefined;
  try {
    const found = await pendingMigrations(databaseUrl ?? embedded?.databaseUrl ?? '');
    process.stdout.write(values.json === true ? `${JSON.stringify(found)}\n` : upgradeReport(found));
    if (found.unknown.length > 0 && found.pending.length > 0) process.exitCode = EXIT.other;
  } finally {
    await embedded?.close();
  }
}

main().catch((error: unknown) => {
  const reason = messageOf(error);
  process.stderr.write(`${reason.startsWith('Unknown option') ? `${reason} ${USAGE}` : reason}\n`);
  process.exitCode = EXIT.failed;
});
