/** What all commands share: the options in front, and how their end becomes an exit code. */
import type { ExitCode } from '../exit-codes.js';
import { exitCodes } from '../exit-codes.js';
import { intMax, numberOf } from '../number-option.js';

/** Options of every command. */
export const globalOptions = {
  url: { type: 'string', requiresArg: true, describe: 'Address of the hub [FLOTILLA_URL, or http://127.0.0.1:8080]' },
  key: {
    type: 'string',
    requiresArg: true,
    describe: 'API key [FLOTILLA_KEY]. Other users can see it in the process list',
  },
  'key-file': { type: 'string', requiresArg: true, describe: 'File with the API key' },
  json: { type: 'boolean', describe: 'JSON lines instead of a table' },
} as const;

export interface GlobalArguments {
  readonly url?: string | undefined;
  readonly key?: string | undefined;
  readonly keyFile?: string | undefined;
  readonly json?: boolean | undefined;
}

/** Makes yargs' handler of a command; one that returns nothing is done. */
export function command<Args>(work: (args: Args) => Promise<ExitCode | void>): (args: Args) => Promise<void> {
  return async (args) => {
    process.exitCode = (await work(args)) ?? exitCodes.done;
  };
}

/** `--limit` of a list that shows so many where nothing else is said. */
export const limitOption = (shown = 200) =>
  ({
    type: 'string',
    default: String(shown),
    requiresArg: true,
    describe: 'Maximum number of rows; 0: all',
    coerce: (typed: unknown): number => numberOf('limit', typed, { min: 0, max: intMax }),
  }) as const;
