/** The hub's program: settings from the environment, start, one ready line on standard output, and an orderly end on Ctrl-C or SIGTERM. */
import './production.js';
import { existsSync } from 'node:fs';
import { keepFilesPrivate } from './data-folder.js';
import { ConfigError, readConfig, unknownSettings } from './settings/config.js';
import { startHub, type RunningHub } from './hub.js';
import { createLogger } from './logger.js';

/** Exit codes: settings that make no sense are told apart from a start or run that failed. */
const EXIT = { failed: 1, badConfig: 2 } as const;

/** A start that is told to stop goes on to its end, so that it can be undone. One that hangs, on a disk or a server that does not answer, ends by then, ms. */
const START_ENDS_WITHIN_MS = 10_000;

const flags = process.argv.slice(2);

function readSettings(): ReturnType<typeof readConfig> {
  if (existsSync('.env')) process.loadEnvFile('.env');
  const unknown = flags.filter((flag) => flag !== '--demo');
  if (unknown.length > 0)
    throw new ConfigError([
      `The hub knows the flag --demo, not ${unknown.join(' ')}; everything else is set by the environment.`,
    ]);
  return readConfig(process.env);
}

async function main(): Promise<void> {
  keepFilesPrivate();
  const config = readSettings();
  const logger = createLogger(config.logLevel);
  for (const name of unknownSettings(process.env))
    logger.warn(`${name} is not a setting of the hub and has no effect.`);
  const signal = new Promise<NodeJS.Signals>((resolve) => {
    // npm passes Ctrl-C on to a process that the terminal has told already: any number of signals means one stop.
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, resolve);
  });
  let isStarting = true;
  void signal.then(() => setTimeout(() => isStarting && giveUp(), START_ENDS_WITHIN_MS).unref());
  const hub = await startHub({ config, logger, withDemoFleet: flags.includes('--demo') });
  isStarting = false;
  announce(hub, config.host);
  const reason = await Promise.race([signal, hub.lost.then(() => 'lease lost' as const)]);
  logger.info({ reason }, 'stopping');
  await hub.stop();
  logger.info('stopped');
  process.exitCode = reason === 'lease lost' ? EXIT.failed : 0;
}

function announce({ ports }: RunningHub, host: string): void {
  const shown = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  process.stderr.write(`Flotilla listens on http://${shown}:${ports.http}/ (GraphQL at /graphql)\n`);
  process.stdout.write(`${JSON.stringify({ ready: true, ...ports })}\n`);
}

function giveUp(): void {
  process.stderr.write(
    'The start was told to stop and hangs: leaving it as it is. The next start takes over what it left.\n',
  );
  process.exit(EXIT.failed);
}

/** What has a code was foreseen and says itself what to do. Anything else is a fault of ours, found by its stack. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error ? error.message : (error.stack ?? error.message);
}

main().catch((error: unknown) => {
  process.stderr.write(`${explain(error)}\n`);
  process.exitCode = error instanceof ConfigError ? EXIT.badConfig : EXIT.failed;
});
