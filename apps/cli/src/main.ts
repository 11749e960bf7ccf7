/** `flotilla`: the command line. Reads what was typed, runs one command, and ends with a code that scripts can decide by (exit-codes.ts). */
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

/** Columns of help, where a terminal has more. */
const helpWidthMax = 120;

async function main(): Promise<void> {
  const typed = hideBin(process.argv).map((word) => (word === '-' ? standardInput : word));
  const program = yargs(typed)
    .scriptName('flotilla')
    .usage('$0 <command>\n\nThe command line of a Flotilla hub.')
    .options(globalOptions)
    .version('version', 'Print the version of the command line', versionOf())
    .strict()
    .demandCommand(1, 'Say what to do; --help lists the commands.')
    .recommendCommands()
    .wrap(Math.min(helpWidthMax, process.stdout.columns ?? helpWidthMax))
    .exitProcess(false)
    .check(refuseRepeated)
    .fail((message: string | null, error: Error | undefined) => {
      throw error ?? new UsageError(`${(message ?? 'This cannot be run').replace(/[^.!?]$/, '$&.')} See --help.`);
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
    .epilogue('Exit codes: 0 done, 1 usage, 2 refused, 3 some targets failed, 4 hub not reachable, 5 not allowed.')
    .parseAsync();
}

/** Of the package, beside `src` and `dist` alike. */
function versionOf(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    readonly version: string;
  };
  return version;
}

/** yargs makes a list of what is given twice, also of what commands take for one text. It tells its check all that it knows of the options. */
function refuseRepeated(args: Readonly<Record<string, unknown>>, options: object): true {
  const lists: unknown = Reflect.get(options, 'array');
  const repeated = Object.entries(args).find(
    ([name, value]) => name !== '_' && Array.isArray(value) && !(Array.isArray(lists) && lists.includes(name)),
  );
  if (repeated !== undefined) throw givenTwice(repeated[0]);
  return true;
}

/** What has a code was foreseen and says itself what to do. Anything else is a fault of ours, found by its stack. */
function explain(error: unknown): string {
  if (error instanceof FlotillaError) return `${error.code}: ${error.message}`;
  if (error instanceof UsageError || !(error instanceof Error))
    return String(error instanceof Error ? error.message : error);
  return error.name === 'YError' ? error.message : (error.stack ?? error.message);
}

// `flotilla … | head` ends the pipe early, and that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(exitCodes.done);
  process.stderr.write(`What was found cannot be written: ${error.message}\n`);
  process.exit(exitCodes.usage);
});
main().catch((error: unknown) => {
  process.stderr.write(`${explain(error).split('\n').map(printable).join('\n')}\n`);
  process.exitCode = exitCodeOf(error);
});
