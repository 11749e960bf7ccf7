/**
 * `flotilla`: the command line. Runs one command and ends with an exit code for scripts
 * (exit-codes.ts).
 */
import { FlotillaError } from '@flotilla/client';
import { hideBin } from 'yargs/helpers';
import { completedOf, valuesFor } from './completion/complete-words.js';
import { completionsFlag } from './completion/scripts.js';
import { isOutputErrorHandled, write } from './console/output.js';
import { printable } from './console/printable.js';
import { messageOf } from './error-message.js';
import { exitCodeOf, exitCodes, UsageError } from './exit-codes.js';
import { commands, programOf } from './program.js';

/** Errors with a code explain what to do. Others are bugs and print their stack. */
function explain(error: unknown): string {
  if (error instanceof FlotillaError) return `${error.code}: ${error.message}`;
  if (error instanceof UsageError || !(error instanceof Error)) return messageOf(error);
  return error.name === 'YError' ? error.message : (error.stack ?? error.message);
}

// `flotilla … | head` closes the pipe early, which is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (isOutputErrorHandled(error)) return;
  if (error.code === 'EPIPE') process.exit(exitCodes.done);
  process.stderr.write(`Cannot write the output: ${error.message}\n`);
  process.exit(exitCodes.usage);
});

// Messages without a reader are lost; the work, and its exit code, do not depend on them.
process.stderr.on('error', () => undefined);

async function main(): Promise<void> {
  const typed = hideBin(process.argv);
  const completed = typed[0] === completionsFlag ? completedOf(commands, typed.slice(2)) : undefined;
  const values = completed === undefined ? [] : await valuesFor(completed);
  if (values.length > 0) return write(`${values.map(inShell).join('\n')}\n`);
  await programOf(typed).parseAsync();
}

/** zsh takes what follows a colon for a description. */
function inShell(value: string): string {
  return process.env['SHELL']?.endsWith('zsh') === true ? value.replaceAll(':', '\\:') : value;
}

main().catch((error: unknown) => {
  process.stderr.write(`${explain(error).split('\n').map(printable).join('\n')}\n`);
  process.exitCode = exitCodeOf(error);
});
