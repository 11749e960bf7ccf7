/** JSON from an argument or from standard input. */
import { messageOf } from './error-message.js';
import { UsageError } from './exit-codes.js';

/** Parses an object. Throws a UsageError that names the source (`where`). */
export function jsonObject(source: string, where: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch (error) {
    throw new UsageError(`${where}: expected JSON: ${messageOf(error)}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new UsageError(`${where}: expected a JSON object.`);
  return { ...value };
}

/** Editors of Windows begin a file with it. It is not a part of a password or of JSON. */
const byteOrderMark = /^\ufeff/;

/** Limits standard input, in case the wrong file was piped in. */
export async function readStandardInput(bytesMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new UsageError(`Standard input has more than ${bytesMax} bytes. Send less.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8').replace(byteOrderMark, '');
}

/** Replaces `-` on the command line, because yargs turns it into an empty text. */
export const standardInput = '/dev/stdin';

/** Positionals and options that name a file, or a text that may be read from standard input. */
const inputs: ReadonlySet<string> = new Set(
  ['arguments', 'config', 'f', 'file', 'files', 'image', 'key-file', 'private-key', 'signature'].flatMap((name) => [
    name,
    name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
  ]),
);

/** Writes `-` back into all other arguments, where it is a text like any other. */
export function restoreDashes(args: Record<string, unknown>): void {
  const restored = (value: unknown) => (value === standardInput ? '-' : value);
  for (const [name, value] of Object.entries(args))
    if (!inputs.has(name)) args[name] = Array.isArray(value) ? value.map(restored) : restored(value);
}

/** For a file that is written: `-` would be the name of one, with secrets in it. */
export function refuseDash(option: string, file: string | undefined): void {
  if (file === '-') throw new UsageError(`${option} writes a file. Give its name instead of "-".`);
}

/** Parses JSON Lines that arrive in pieces. Texts may have U+2028, where readline also splits. */
export async function* jsonLines(parts: AsyncIterable<Uint8Array>): AsyncGenerator<object, void, void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const part of parts) {
    const lines = `${rest}${decoder.decode(part, { stream: true })}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') yield jsonObject(line, 'The results');
  }
  if (rest.trim() !== '') yield jsonObject(rest, 'The results');
}
