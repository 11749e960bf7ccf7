/** Asks whether somebody means it before a tool that disrupts devices is called: on a terminal by a question, elsewhere `--yes` has to say so. */
import { createInterface } from 'node:readline/promises';
import { FlotillaError, type FlotillaClient } from '@flotilla/client';
import { UsageError } from '../exit-codes.js';
import { PolicyOfToolDocument } from '../generated/operations.js';
import { say } from './output.js';
import { printable } from './printable.js';

export const yesOption = {
  yes: {
    type: 'boolean',
    alias: 'y',
    describe: 'Do not ask before a tool that disrupts devices is called, such as a restart',
  },
} as const;

export interface Confirmation {
  readonly yes?: boolean | undefined;
}

/** False where somebody said no; nothing was done then. `where` is the end of a sentence, such as "on 02:00:00:00:00:01". */
export async function isMeant(
  client: FlotillaClient,
  tool: string,
  where: string,
  { yes }: Confirmation,
): Promise<boolean> {
  if (yes === true || !(await isDisruptive(client, tool))) return true;
  return confirm(`${printable(tool)} ${where} disrupts what devices do.`, {});
}

/** As `isMeant`, of what is known to be disruptive. */
export async function confirm(what: string, { yes }: Confirmation): Promise<boolean> {
  if (yes === true) return true;
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new UsageError(`${what} Where nobody can be asked, --yes says that it is meant.`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const ended = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
    const answer = await Promise.race([terminal.question(`${what} Go on? [y/N] `), ended]);
    if (/^y(es)?$/i.test(answer.trim())) return true;
  } finally {
    terminal.close();
  }
  say('Nothing was done.');
  return false;
}

/** Not asked about is what the key may not look at: the hub decides. */
async function isDisruptive(client: FlotillaClient, tool: string): Promise<boolean> {
  try {
    const { tools } = await client.request(PolicyOfToolDocument, { name: tool });
    return tools.nodes.some(({ policy }) => policy.disruptive);
  } catch (error) {
    if (error instanceof FlotillaError && error.code === 'FORBIDDEN') return false;
    throw error;
  }
}
