/** Arguments, settings, output and exit codes of the commands `backup` and `restore`. */
import { parseArgs } from 'node:util';
import { RegistryError } from '@flotilla/registry';
import { messageOf } from '../error-message.js';
import { keepFilesPrivate } from '../data-folder.js';
import { ConfigError } from '../environment/config-error.js';
import { loadEnvFile } from '../environment/env-file.js';
import { lineBreakWarnings } from '../environment/setting-warnings.js';
import { readConfig } from '../settings/config.js';
import type { HubConfig } from '../settings/config.js';
import { abortOnStop } from '../stop-signals.js';
import { BackupError } from './archive-format.js';

/** 1: refused, nothing was changed. 2: it failed. */
const EXIT = { refused: 1, failed: 2 } as const;

const REFUSALS: readonly string[] = ['RESTORE_REFUSED', 'DATA_DIR_IN_USE'];

interface Command {
  readonly usage: string;
  readonly flags: readonly string[];
  /** Resolves to the summary, printed as one line of JSON. */
  run(config: HubConfig, file: string, given: Given): Promise<object>;
}

interface Given {
  readonly flags: ReadonlySet<string>;
  /** Aborts when the process is asked to stop, so that nothing unfinished stays. */
  readonly signal: AbortSignal;
}

/** Reads the settings like the hub: from the environment and `.env`. */
export async function runCommand({ usage, flags, run }: Command): Promise<void> {
  const signal = abortOnStop(process, () => process.exit(EXIT.failed));
  try {
    const { file, given } = argumentsOf(usage, flags);
    loadEnvFile();
    keepFilesPrivate();
    const config = readConfig(process.env);
    for (const { found, advice } of lineBreakWarnings(process.env)) process.stderr.write(`${found} ${advice}\n`);
    process.stdout.write(`${JSON.stringify(await run(config, file, { flags: given, signal }))}\n`);
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n`);
    process.exitCode = isRefusal(error) ? EXIT.refused : EXIT.failed;
  }
}

function argumentsOf(usage: string, flags: readonly string[]) {
  try {
    const options = Object.fromEntries(flags.map((flag) => [flag, { type: 'boolean' } as const]));
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const [file, ...others] = positionals;
    if (file !== undefined && others.length === 0) return { file, given: new Set(Object.keys(values)) };
  } catch {
    // An unknown flag.
  }
  throw new BackupError(usage);
}

function isRefusal(error: unknown): boolean {
  return (
    error instanceof BackupError ||
    error instanceof ConfigError ||
    (error instanceof RegistryError && REFUSALS.includes(error.code))
  );
}
