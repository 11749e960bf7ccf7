/** The outcome of one call: what is printed, and the exit code. */
import type { CallOutcomeFragment } from '@flotilla/client';
import { formatOf, type OutputOptions } from '../console/output-format.js';
import { printChange, say, write } from '../console/output.js';
import { printable } from '../console/printable.js';
import { exitCodes, type ExitCode } from '../exit-codes.js';

/** Standard output gets only the answer of the device, for pipes. */
export async function printOutcome(outcome: CallOutcomeFragment, options: OutputOptions): Promise<void> {
  if (formatOf(options) !== 'table' || options.columns !== undefined) return printChange(outcome, options);
  const { result, error } = outcome;
  if (outcome.outcome !== 'SUCCEEDED')
    say(`${outcome.outcome ?? 'no outcome'}${error ? ` ${error.code}: ${printable(error.message)}` : ''}`);
  const text = result?.text ?? (result ? JSON.stringify(result.content) : undefined);
  if (text !== undefined) await write(`${text.split('\n').map(printable).join('\n')}\n`);
}

export function exitCodeOfCall({ outcome }: CallOutcomeFragment): ExitCode {
  if (outcome === 'SUCCEEDED') return exitCodes.done;
  return outcome === 'REJECTED' || outcome === 'NOT_SENT' ? exitCodes.refused : exitCodes.targetsFailed;
}
