/**
 * `npm run audit:verify`: checks that the audit trail was not changed since it was written. Reads
 * DATABASE_URL, or the embedded server of the data folder, running or stopped.
 */
import { openEmbeddedPostgres, verifyAuditTrail } from '@flotilla/registry';
import type { AuditFault } from '@flotilla/registry';
import { messageOf } from './error-message.js';
import { loadEnvFile } from './environment/env-file.js';
import { readConfig } from './settings/config.js';
import { knownAuditSecret } from './settings/secret-settings.js';

/** 1: the chain is broken. 2: it could not be read. */
const EXIT = { broken: 1, failed: 2 } as const;

const WHAT: Readonly<Record<AuditFault, string>> = {
  CHANGED: 'was changed, or one before it',
  MISSING: 'does not follow what is before it: entries are missing',
  UNKEYED: 'has no key: it was not written by a hub of this version, or the trail was written again without the key',
  OTHER_KEY:
    'was made with another key, or follows such entries although the key was not changed there: check ' +
    'FLOTILLA_AUDIT_KEY here and in every process of the hub. If it is right, entries were changed',
};

async function main(): Promise<void> {
  loadEnvFile();
  const config = readConfig(process.env);
  const { databaseUrl, dataDir } = config;
  const embedded = databaseUrl === undefined ? await openEmbeddedPostgres(dataDir) : undefined;
  try {
    const verdict = await verifyAuditTrail(databaseUrl ?? embedded?.databaseUrl ?? '', await knownAuditSecret(config));
    process.stdout.write(`${JSON.stringify(verdict)}\n`);
    if (verdict.kind === 'intact') return;
    process.stderr.write(`The audit trail is broken: entry ${verdict.sequence} ${WHAT[verdict.reason]}.\n`);
    process.exitCode = EXIT.broken;
  } finally {
    await embedded?.close();
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`The audit trail could not be verified: ${messageOf(error)}\n`);
  process.exitCode = EXIT.failed;
});
