/** All checks of the doctor. They change nothing, and contact only what the settings name. */
import { hubProcessOf } from '@flotilla/registry';
import { ConfigError } from '../environment/config-error.js';
import { settingWarnings } from '../environment/setting-warnings.js';
import { readConfig, type HubConfig } from '../settings/config.js';
import { localUrl } from '../settings/listener-settings.js';
import { checkCertificate } from './check-certificate.js';
import { checkMail } from './check-mail.js';
import { checkPorts } from './check-ports.js';
import { checkReach } from './check-reach.js';
import { checkDisk, checkPostgres, checkRedisServer, checkStorage } from './check-services.js';
import { checkSystem } from './check-system.js';
import type { DoctorContext } from './doctor-context.js';
import { findingsOf, ok, problem, warning, type Finding } from './finding.js';
import { askHttp } from './http-ask.js';

/** In the order of the report. The disk is checked before anything that may write to it. */
const checks: readonly [name: string, check: (context: DoctorContext) => Promise<readonly Finding[]>][] = [
  ['system', checkSystem],
  ['disk', checkDisk],
  ['ports', checkPorts],
  ['certificate', checkCertificate],
  ['PostgreSQL', checkPostgres],
  ['Redis', checkRedisServer],
  ['storage', checkStorage],
  ['mail', checkMail],
  ['OTA address', checkReach],
];

/** Wrong settings are the only finding, because all else depends on them. */
export async function examine(readEnvironment: () => Environment, now: () => number): Promise<readonly Finding[]> {
  const read = settingsOf(readEnvironment);
  if ('problems' in read) return read.problems.map((found) => problem('settings', found, 'Fix it first.'));
  const { config, environment } = read;
  const hubPid = await hubProcessOf(config.dataDir);
  const isAnswering = config.httpPort !== 0 && (await isAlive(config));
  const findings = [...settingFindings(environment), hubFinding({ config, hubPid, isAnswering, now })];
  // One after the other: a start of the embedded PostgreSQL would disturb the others.
  for (const [name, check] of checks)
    findings.push(...(await findingsOf(name, () => check({ config, hubPid, isAnswering, now }))));
  return findings;
}

type Environment = NodeJS.ProcessEnv;

interface Settings {
  readonly config: HubConfig;
  readonly environment: Environment;
}

function settingsOf(readEnvironment: () => Environment): Settings | Pick<ConfigError, 'problems'> {
  try {
    const environment = readEnvironment();
    return { config: readConfig(environment), environment };
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}

function settingFindings(environment: Environment): readonly Finding[] {
  const warnings = settingWarnings(environment);
  return warnings.length === 0
    ? [ok('settings', 'are valid')]
    : warnings.map(({ found, advice }) => warning('settings', found.replace(/\.$/, ''), advice));
}

function hubFinding({ config, hubPid, isAnswering }: DoctorContext): Finding {
  if (isAnswering) return ok('hub', `answers at ${localUrl(config)}`);
  return hubPid === undefined
    ? ok('hub', 'does not run; what needs it is left out')
    : problem(
        'hub',
        `runs as process ${hubPid} and does not answer at ${localUrl(config)}`,
        'Run the doctor with the settings of the hub, or read its log.',
      );
}

/** Any program may have the port: only the hub answers like this. */
async function isAlive(config: HubConfig): Promise<boolean> {
  try {
    const { status, body } = await askHttp(`${localUrl(config)}/health/live`, { checksCertificate: false });
    return status === 200 && body.includes('"status":"ok"');
  } catch {
    return false;
  }
}
