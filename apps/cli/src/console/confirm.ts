/**
 * Asks for confirmation before a disruptive call: on a terminal with a question, elsewhere `--yes`
 * is required.
 */
import { FlotillaError, type FlotillaClient } from '@flotilla/client';
import { UsageError } from '../exit-codes.js';
import { PolicyOfToolDocument } from '../generated/operations.js';
import { say } from './output.js';
import { printable } from './printable.js';
import { answerTo } from './secret.js';

export const yesOption = {
  yes: {
    type: 'boolean',
    alias: 'y',
    describe: 'Confirm what disrupts or deletes, without a question',
  },
} as const;

interface Confirmation {
  readonly yes?: boolean | undefined;
}

/**
 * False if the answer was no and nothing was done. `where` ends the question, such as "on
 * 02:00:00:00:00:01".
 */
export async function isConfirmed(
  client: FlotillaClient,
  tool: string,
  where: string,
  { yes }: Confirmation,
): Promise<boolean> {
  if (yes === true || !(await isDisruptive(client, tool))) return true;
  return confirm(`${printable(tool)} ${where} disrupts devices.`, {});
}

/** Asks before an action that is known to be disruptive. */
export async function confirm(what: string, { yes }: Confirmation): Promise<boolean> {
  if (yes === true) return true;
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw new UsageError(`${what} Confirm it with --yes.`);
  if (/^y(es)?$/i.test(await answerTo(`${what} Continue? [y/N] `, process.stderr))) return true;
  say('Nothing was done.');
  return false;
}

/** False if the key may not read the policy. Then only the hub checks the call. */
async function isDisruptive(client: FlotillaClient, tool: string): Promise<boolean> {
  try {
    const { tools } = await client.request(PolicyOfToolDocument, { name: tool });
    return tools.nodes.some(({ policy }) => policy.disruptive);
  } catch (error) {
    if (error instanceof FlotillaError && error.code === 'FORBIDDEN') return false;
    throw error;
  }
}
