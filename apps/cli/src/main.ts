/**
 * `flotilla`: the command line. Runs one command and ends with an exit code for scripts
 * (exit-codes.ts).
 */
import { FlotillaError } from '@flotilla/client';
import { hideBin } from 'yargs/helpers';
import { printable } from './console/printable.js';
import { exitCodeOf, exitCodes, UsageError } from './exit-codes.js';
import { programOf } from './program.js';

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

async function main(): Promise<void> {
  await programOf(hideBin(process.argv)).parseAsync();
}

main().catch((error: unknown) => {
  process.stderr.write(`${explain(error).split('\n').map(printable).join('\n')}\n`);
  process.exitCode = exitCodeOf(error);
});
