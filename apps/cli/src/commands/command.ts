/** Shared by all commands: global options, and the exit code. */
import type { ExitCode } from '../exit-codes.js';
import { exitCodes } from '../exit-codes.js';
import { intMax, numberOf } from '../number-option.js';

/** Options of every command. */
export const globalOptions = {
  url: {
    type: 'string',
    requiresArg: true,
    describe: 'Address of the hub [FLOTILLA_URL, or else http://127.0.0.1:8080]',
  },
  key: {
    type: 'string',
    requiresArg: true,
    describe: 'API key [FLOTILLA_KEY]. Other users can see it in the process list',
  },
  'key-file': { type: 'string', requiresArg: true, describe: 'File with the API key' },
  json: { type: 'boolean', describe: 'Print JSON lines instead of a table' },
} as const;

export interface GlobalArguments {
  readonly url?: string | undefined;
  readonly key?: string | undefined;
  readonly keyFile?: string | undefined;
  readonly json?: boolean | undefined;
}

/** Makes the yargs handler of a command. Without a returned exit code it ends with `done`. */
export function command<Args>(work: (args: Args) => Promise<ExitCode | void>): (args: Args) => Promise<void> {
  return async (args) => {
    process.exitCode = (await work(args)) ?? exitCodes.done;
  };
}

/** The option `--limit` of a list, with its default. */
export const limitOption = (shown = 200) =>
  ({
    type: 'string',
    default: String(shown),
    requiresArg: true,
    describe: 'Maximum number of rows; 0 for all',
    coerce: (typed: unknown): number => numberOf('limit', typed, { min: 0, max: intMax }),
  }) as const;
