/** The hub's program: settings from the environment, start, one ready line on standard output, and an orderly end on Ctrl-C or SIGTERM. */
import { existsSync } from 'node:fs';
import { ConfigError, readConfig, unknownSettings } from './config.js';
import { startHub, type RunningHub } from './hub.js';
import { createLogger } from './logger.js';

/** Exit codes: settings that make no sense are told apart from a start or run that failed. */
const EXIT = { failed: 1, badConfig: 2 } as const;

const flags = process.argv.slice(2);

function readSettings(): ReturnType<typeof readConfig> {
  if (existsSync('.env')) process.loadEnvFile('.env');
  const unknown = flags.filter((flag) => flag !== '--demo');
  if (unknown.length > 0)
    throw new ConfigError([`The hub knows the flag --demo, not ${unknown.join(' ')}; everything else is set by the environment.`]);
  return readConfig(process.env);
}

async function main(): Promise<void> {
  const config = readSettings();
  const logger = createLogger(config.logLevel);
  for (const name of unknownSettings(process.env)) logger.warn(`${name} is not a setting of the hub and has no effect.`);
  const signal = new Promise<NodeJS.Signals>((resolve) => {
    // npm passes Ctrl-C on to a process that the terminal has told already: any number of signals means one stop.
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, resolve);
  });
  const hub = await startHub({ config, logger, withDemoFleet: flags.includes('--demo') });
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

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof ConfigError ? EXIT.badConfig : EXIT.failed;
});
