/**
 * The program of the hub: reads settings, starts, prints one ready line, drains on SIGTERM, and
 * stops on Ctrl-C or after the drain.
 */
import './production.js';
import { keepFilesPrivate } from './data-folder.js';
import { ConfigError } from './environment/config-error.js';
import { loadEnvFile } from './environment/env-file.js';
import { correctTimeZone } from './environment/machine-time-zone.js';
import { settingWarnings } from './environment/setting-warnings.js';
import { readConfig, type HubConfig } from './settings/config.js';
import { localUrl } from './settings/listener-settings.js';
import { startHub, type RunningHub } from './hub.js';
import { createLogger } from './logger.js';
import { olderNodeHint } from './node-version.js';
import { listenForStop } from './stop-signals.js';

/** `badConfig`: wrong settings; `failed`: the start or the run failed. */
const EXIT = { failed: 1, badConfig: 2 } as const;

/**
 * A start that receives a signal continues, so that it can be undone. After this time the process
 * ends anyway, ms.
 */
const START_ENDS_WITHIN_MS = 10_000;

/**
 * After a stop or a failed start the process ends by itself, unless a timer of ioredis or of
 * the engine of migrations keeps it, or a half-open connection. Then it ends after this time, ms.
 */
const ENDS_WITHIN_MS = 1_000;

const flags = process.argv.slice(2);

function readSettings(): ReturnType<typeof readConfig> {
  loadEnvFile();
  const unknown = flags.filter((flag) => flag !== '--demo');
  if (unknown.length > 0)
    throw new ConfigError([
      `Unknown flag ${unknown.join(' ')}. The only flag is --demo; use environment variables for all settings.`,
    ]);
  return readConfig(process.env);
}

async function main(): Promise<void> {
  keepFilesPrivate();
  const config = readSettings();
  const logger = createLogger(config.logLevel);
  const hint = olderNodeHint(process.versions.node);
  if (hint !== undefined) logger.info(hint);
  const zoneHint = correctTimeZone(Intl.DateTimeFormat().resolvedOptions().timeZone, process.env);
  if (zoneHint !== undefined) logger.warn(zoneHint);
  for (const { found, advice } of settingWarnings(process.env)) logger.warn(`${found} ${advice}`);
  const signals = listenForStop(process);
  let isStarting = true;
  void signals.first.then(() => setTimeout(() => isStarting && giveUp(), START_ENDS_WITHIN_MS).unref());
  const hub = await startHub({ config, logger, withDemoFleet: flags.includes('--demo') });
  isStarting = false;
  announce(hub, config);
  const lost = hub.lost.then(() => 'lease lost' as const);
  let reason = await Promise.race([signals.atOnce, signals.first, lost]);
  if (reason === 'SIGTERM')
    reason = await Promise.race([signals.atOnce, lost, hub.drain().then(() => 'SIGTERM' as const)]);
  logger.info({ reason }, 'stopping');
  await hub.stop();
  logger.info('stopped');
  endWith(reason === 'lease lost' ? EXIT.failed : 0);
}

function endWith(exitCode: number): void {
  process.exitCode = exitCode;
  setTimeout(() => process.exit(), ENDS_WITHIN_MS).unref();
}

function announce({ ports }: RunningHub, { host, tls }: HubConfig): void {
  const url = localUrl({ host, tls, httpPort: ports.http });
  process.stderr.write(`Flotilla listens on ${url}/ (GraphQL at /graphql)\n`);
  process.stdout.write(`${JSON.stringify({ ready: true, ...ports })}\n`);
}

function giveUp(): void {
  process.stderr.write('The hub did not stop in time during its start and ends now. The next start cleans up.\n');
  process.exit(EXIT.failed);
}

/** Errors with a code explain themselves. Others are bugs, and their stack is printed. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error ? error.message : (error.stack ?? error.message);
}

main().catch((error: unknown) => {
  process.stderr.write(`${explain(error)}\n`);
  endWith(error instanceof ConfigError ? EXIT.badConfig : EXIT.failed);
});
