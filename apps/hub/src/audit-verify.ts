/** `npm run audit:verify`: whether the audit trail is as it was written. Over DATABASE_URL, or the embedded server of the data folder, running or not. */
import { existsSync } from 'node:fs';
import { openEmbeddedPostgres, verifyAuditTrail } from '@flotilla/registry';
import { readConfig } from './settings/config.js';

/** 1: the chain is broken. 2: it could not be read. */
const EXIT = { broken: 1, failed: 2 } as const;

async function main(): Promise<void> {
  if (existsSync('.env')) process.loadEnvFile('.env');
  const { databaseUrl, dataDir } = readConfig(process.env);
  const embedded = databaseUrl === undefined ? await openEmbeddedPostgres(dataDir) : undefined;
  try {
    const verdict = await verifyAuditTrail(databaseUrl ?? embedded?.databaseUrl ?? '');
    process.stdout.write(`${JSON.stringify(verdict)}\n`);
    if (verdict.kind === 'intact') return;
    const what = verdict.reason === 'CHANGED' ? 'was changed, or one before it' : 'does not follow what is before it: entries are missing';
    process.stderr.write(`The audit trail is broken: entry ${verdict.sequence} ${what}.\n`);
    process.exitCode = EXIT.broken;
  } finally {
    await embedded?.close();
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`The audit trail could not be verified: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = EXIT.failed;
});
