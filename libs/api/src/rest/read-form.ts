/**
 * Receives one file of a multipart form as a stream, with the short fields before it. Stores
 * nothing.
 */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import busboy from 'busboy';
import { ApiError } from '../errors/api-error.js';
import { discardRest } from '../limits/discard-rest.js';
import { textProblem } from '../limits/input-bounds.js';

interface FormFile {
  readonly fileName: string;
  /** Ends when the whole form was received and is valid; otherwise it throws BAD_USER_INPUT. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Fields of one form, and characters of each: all are short words. */
const FIELDS_MAX = 8;
const FIELD_BYTES_MAX = 1024;
/** Bytes to read and discard after a refusal. */
const SURPLUS_BYTES_MAX = 128 * 1024 * 1024;

/** Resolves to the result of `take` for the field `file`. Throws BAD_USER_INPUT for other forms. */
export async function readForm<Result>(
  request: IncomingMessage,
  take: (fields: ReadonlyMap<string, string>, file: FormFile) => Promise<Result>,
): Promise<Result> {
  const form = openForm(request);
  try {
    return await new Promise<Result>((resolve, reject) => {
      const fields = new Map<string, string>();
      let hasFile = false;
      const end = new Promise<void>((ended, failed) => {
        form.once('close', ended);
        form.on('error', (error) => failed(unsound(error instanceof Error ? error.message : 'it broke off')));
        form.on('field', (name, value) => {
          if (hasFile) failed(unsound(`the field "${name}" comes after the file, and fields come before it`));
          const problem = textProblem(name) ?? textProblem(value);
          if (problem !== undefined) failed(unsound(`the field ${JSON.stringify(name)} ${problem}`));
          fields.set(name, value);
        });
      });
      end.catch(reject);
      form.on('file', (name, body, { filename }) => {
        // The form reports it too. Without a listener it would end the process while no code reads
        // the file.
        body.on('error', () => undefined);
        if (hasFile || name !== 'file')
          return void form.destroy(new Error(`it has a file "${name}", and one file named "file" is expected`));
        hasFile = true;
        // The name is absent where a browser was given none.
        const fileName = (filename as string | undefined) ?? '';
        const problem = textProblem(fileName);
        if (problem !== undefined) return void form.destroy(new Error(`the name of the file ${problem}`));
        take(fields, { fileName, body: until(body, end) }).then(resolve, reject);
      });
      end.then(
        () => hasFile || reject(unsound('it has no file: send it as the field "file"')),
        () => undefined,
      );
      request.once('close', () => request.complete || form.destroy(new Error('the connection ended')));
      request.pipe(form);
    });
  } finally {
    request.unpipe(form);
    form.destroy();
    await discardRest(request, SURPLUS_BYTES_MAX);
  }
}

function openForm(request: IncomingMessage): busboy.Busboy {
  try {
    return busboy({ headers: request.headers, limits: { files: 2, fields: FIELDS_MAX, fieldSize: FIELD_BYTES_MAX } });
  } catch (error) {
    request.resume();
    throw unsound(error instanceof Error ? error.message : 'its type is not multipart/form-data');
  }
}

async function* until(body: Readable, end: Promise<void>): AsyncGenerator<Uint8Array> {
  yield* body;
  await end;
}

function unsound(problem: string): ApiError {
  return new ApiError('BAD_USER_INPUT', `The form cannot be read: ${problem.replace(/\.$/, '')}.`);
}
