/**
 * `flotilla-hub doctor [--json]`: checks settings, machine and services, and says what to do. Works
 * while the hub runs and when it does not. Exit code 1: a problem was found.
 */
import './production.js';
import { parseArgs } from 'node:util';
import { messageOf } from './error-message.js';
import { keepFilesPrivate } from './data-folder.js';
import { loadEnvFile } from './environment/env-file.js';
import { examine } from './doctor/examine.js';
import { countText, findingText } from './doctor/finding.js';

/** 2: the doctor itself failed. */
const EXIT = { problem: 1, failed: 2 } as const;

/** With the settings of `.env`. */
function environment(): NodeJS.ProcessEnv {
  loadEnvFile();
  return process.env;
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { json: { type: 'boolean' } } });
  keepFilesPrivate();
  const findings = await examine(environment, Date.now);
  const isHealthy = findings.every(({ status }) => status !== 'problem');
  process.stdout.write(
    values.json === true
      ? `${JSON.stringify({ ok: isHealthy, findings })}\n`
      : `${[...findings.map(findingText), countText(findings)].join('\n')}\n`,
  );
  if (!isHealthy) process.exitCode = EXIT.problem;
}

main().catch((error: unknown) => {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = EXIT.failed;
});
