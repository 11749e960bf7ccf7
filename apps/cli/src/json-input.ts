/** JSON that somebody typed or piped in. */
import { text } from 'node:stream/consumers';
import { UsageError } from './exit-codes.js';

/** An object, or a UsageError that says where it stood. */
export function jsonObject(source: string, where: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch (error) {
    throw new UsageError(`${where}: this is no JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new UsageError(`${where}: a JSON object is wanted, in braces.`);
  return { ...value };
}

/** What `-` on the command line becomes: yargs makes an empty text of it. */
export const standardInput = '/dev/stdin';

/** The arguments of a tool: JSON, or `-` for what comes in on standard input. */
export async function toolArguments(given: string | undefined): Promise<Readonly<Record<string, unknown>>> {
  if (given === undefined) return {};
  return given === standardInput ? jsonObject(await text(process.stdin), 'Standard input') : jsonObject(given, 'The arguments');
}
