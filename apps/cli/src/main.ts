/**
 * `flotilla`: the command line. Runs one command and ends with an exit code for scripts
 * (exit-codes.ts).
 */
import { readFileSync } from 'node:fs';
import { FlotillaError } from '@flotilla/client';
import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';
import { globalOptions } from './commands/command.js';
import { devicesCommand } from './commands/devices.js';
import { enrolCommand } from './commands/enrol.js';
import { eventsCommand } from './commands/events.js';
import { firmwareCommand } from './commands/firmware.js';
import { jobsCommand } from './commands/jobs.js';
import { keysCommand } from './commands/keys.js';
import { mcpCommand } from './commands/mcp.js';
import { callCommand, toolsCommand } from './commands/tools.js';
import { givenTwice } from './number-option.js';
import { printable } from './console/printable.js';
import { exitCodeOf, exitCodes, UsageError } from './exit-codes.js';
import { standardInput } from './json-input.js';

/** Maximum width of help, in columns. */
const helpWidthMax = 120;

async function main(): Promise<void> {
  const typed = hideBin(process.argv).map((word) => (word === '-' ? standardInput : word));
  const program = yargs(typed)
    .scriptName('flotilla')
    .usage('$0 <command>\n\nThe command line of a Flotilla hub.')
    .options(globalOptions)
    .version('version', 'Print the version of the command line', versionOf())
    .strict()
    .demandCommand(1, 'Missing command. Run `flotilla --help`.')
    .recommendCommands()
    .wrap(Math.min(helpWidthMax, process.stdout.columns ?? helpWidthMax))
    .exitProcess(false)
    .check(refuseRepeated)
    .fail((message: string | null, error: Error | undefined) => {
      throw error ?? new UsageError(`${(message ?? 'Invalid command').replace(/[^.!?]$/, '$&.')} See --help.`);
    });
  for (const add of [
    devicesCommand,
    toolsCommand,
    callCommand,
    jobsCommand,
    firmwareCommand,
    enrolCommand,
    keysCommand,
    eventsCommand,
    mcpCommand,
  ])
    add(program);
  await program
    .completion('completion', 'Print a script for bash or zsh that completes commands and options')
    .epilogue(
      'Exit codes: 0 done, 1 usage or unexpected error, 2 rejected, 3 not every device succeeded, 4 hub unreachable, ' +
        '5 key missing, invalid or without the scope, 130 Ctrl-C.',
    )
    .parseAsync();
}

/** The version in package.json, which is one folder above `src` and `dist`. */
function versionOf(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    readonly version: string;
  };
  return version;
}

/**
 * yargs makes an array of repeated options, also of single values. Its check receives all option
 * values.
 */
function refuseRepeated(args: Readonly<Record<string, unknown>>, options: object): true {
  const lists: unknown = Reflect.get(options, 'array');
  const repeated = Object.entries(args).find(
    ([name, value]) => name !== '_' && Array.isArray(value) && !(Array.isArray(lists) && lists.includes(name)),
  );
  if (repeated !== undefined) throw givenTwice(repeated[0]);
  return true;
}

/** Errors with a code explain what to do. Others are bugs and print their stack. */
function explain(error: unknown): string {
  if (error instanceof FlotillaError) return `${error.code}: ${error.message}`;
  if (error instanceof UsageError || !(error instanceof Error))
    return String(error instanceof Error ? error.message : error);
  return error.name === 'YError' ? error.message : (error.stack ?? error.message);
}

// `flotilla … | head` closes the pipe early, which is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(exitCodes.done);
  process.stderr.write(`Cannot write the output: ${error.message}\n`);
  process.exit(exitCodes.usage);
});
main().catch((error: unknown) => {
  process.stderr.write(`${explain(error).split('\n').map(printable).join('\n')}\n`);
  process.exitCode = exitCodeOf(error);
});
