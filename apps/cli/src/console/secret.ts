/** Reads a secret: without echo on a terminal, otherwise the first line of standard input. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { exitCodes, UsageError } from '../exit-codes.js';
import { readStandardInput } from '../json-input.js';

/** The longest secret, in bytes. */
const secretBytesMax = 4_096;

export async function readSecret(question: string): Promise<string> {
  const secret = process.stdin.isTTY ? await askHidden(question) : await readStandardInput(secretBytesMax);
  const [line = ''] = secret.split(/\r?\n/);
  if (line === '') throw new UsageError('Nothing was entered. Nothing was changed.');
  return line;
}

/** Asks for a text that others may see. `fallback` is the answer of an empty line. */
export async function ask(question: string, fallback: string): Promise<string> {
  return (await answerTo(`${question} [${fallback}]: `, process.stderr)) || fallback;
}

async function askHidden(question: string): Promise<string> {
  process.stderr.write(question);
  const silent = new Writable({ write: (_text, _encoding, done) => done() });
  const answer = await answerTo('', silent).finally(() => process.stderr.write('\n'));
  return answer;
}

/** The line that a person types; empty after Ctrl-D. Throws UsageError after Ctrl-C. */
export async function answerTo(
  question: string,
  output: NodeJS.WritableStream,
  input: NodeJS.ReadableStream = process.stdin,
): Promise<string> {
  const terminal = createInterface({ input, output, terminal: true });
  const interrupted = new Promise<never>((_resolve, reject) =>
    terminal.once('SIGINT', () => reject(new UsageError('Interrupted. Nothing was changed.', exitCodes.interrupted))),
  );
  const ended = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
  try {
    return (await Promise.race([terminal.question(question), ended, interrupted])).trim();
  } finally {
    terminal.close();
  }
}
