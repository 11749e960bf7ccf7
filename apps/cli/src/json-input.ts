/** JSON from an argument or from standard input. */
import { UsageError } from './exit-codes.js';

/** Parses an object. Throws a UsageError that names the source (`where`). */
export function jsonObject(source: string, where: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch (error) {
    throw new UsageError(`${where}: expected JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new UsageError(`${where}: expected a JSON object.`);
  return { ...value };
}

/** Bytes of arguments: the most that the hub accepts in one request. */
const argumentsBytesMax = 1024 * 1024;

/** Limits standard input, in case the wrong file was piped in. */
export async function readStandardInput(bytesMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new UsageError(`Standard input has more than ${bytesMax} bytes. Send less.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Replaces `-` on the command line, because yargs turns it into an empty text. */
export const standardInput = '/dev/stdin';

/** The arguments of a tool: JSON, or `-` to read JSON from standard input. */
export async function toolArguments(given: string | undefined): Promise<Readonly<Record<string, unknown>>> {
  if (given === undefined) return {};
  return given === standardInput
    ? jsonObject(await readStandardInput(argumentsBytesMax), 'Standard input')
    : jsonObject(given, 'The arguments');
}
