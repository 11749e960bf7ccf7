/**
 * Reads a multipart body: a few text fields and one file, which is streamed. Size and time are
 * limited, so it always ends.
 */
import busboy from 'busboy';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { UploadLimits } from './upload-limits.js';
import { UploadRefusal } from './upload-refusal.js';

interface ReceivedForm<Kept> {
  readonly kept: Kept;
  readonly fields: ReadonlyMap<string, string>;
}

type Limits = Pick<UploadLimits, 'questionBytesMax' | 'silenceMaxMs' | 'bodyMaxMs'>;

/**
 * `keep` gets the file once and must read it to the end or destroy it; an incomplete file ends with
 * an error. Throws UploadRefusal, or what `keep` threw.
 */
export async function receiveForm<Kept>(
  request: IncomingMessage,
  limits: Limits,
  keep: (file: Readable) => Promise<Kept>,
): Promise<ReceivedForm<Kept>> {
  const form = openForm(request, limits);
  const fields = new Map<string, string>();
  let keeping: Promise<Kept> | undefined;
  let refusalOfKeep: { readonly reason: unknown } | undefined;
  const ended = new Promise<void>((resolve, reject) => {
    form.on('field', (name, value) => fields.set(name, value));
    form.on('file', (_name, file) => {
      // The form reports it, or `keep` caused it.
      file.on('error', () => undefined);
      keeping = keep(file);
      // A rejected file ends the form at once. If the form failed first, that is the reason.
      keeping.catch((reason: unknown) => {
        if (form.errored === null) refusalOfKeep = { reason };
        reject(reason);
      });
    });
    form.on('error', reject).on('close', resolve);
  });
  const endWatch = watchBody(request, limits, (refusal) => form.destroy(refusal));
  try {
    request.pipe(form);
    await ended;
    if (keeping === undefined) throw new UploadRefusal('BAD_USER_INPUT', 'The form has no file.');
    return { kept: await keeping, fields };
  } catch (error) {
    request.unpipe(form);
    form.destroy();
    // Storing must have ended before the failure is reported.
    await keeping?.catch(() => undefined);
    if (refusalOfKeep !== undefined) throw refusalOfKeep.reason;
    if (error instanceof UploadRefusal) throw error;
    throw new UploadRefusal('BAD_USER_INPUT', 'The form is invalid or ended early.', { cause: error });
  } finally {
    endWatch();
  }
}

function openForm(request: IncomingMessage, { questionBytesMax }: Limits): busboy.Busboy {
  try {
    const limits = { fields: 8, files: 1, parts: 9, fieldNameSize: 100, fieldSize: questionBytesMax, headerPairs: 20 };
    return busboy({ headers: request.headers, limits });
  } catch (error) {
    throw new UploadRefusal('BAD_USER_INPUT', 'The body must be multipart/form-data with a boundary.', {
      cause: error,
    });
  }
}

/** Ends a body that stalls, takes too long, or lost its connection. Returns a function to stop. */
function watchBody(
  request: IncomingMessage,
  { silenceMaxMs, bodyMaxMs }: Limits,
  end: (refusal: UploadRefusal) => void,
): () => void {
  const late = () => end(new UploadRefusal('TOO_SLOW', 'The body did not arrive in time.'));
  const gone = () => end(new UploadRefusal('BAD_USER_INPUT', 'The connection ended before the body.'));
  const deadline = setTimeout(late, bodyMaxMs);
  const silence = setTimeout(late, silenceMaxMs);
  const onData = () => silence.refresh();
  const complete = () => clearTimeout(silence);
  const closed = () => {
    if (!request.complete) gone();
  };
  request.on('data', onData).on('end', complete).on('close', closed);
  return () => {
    clearTimeout(deadline);
    clearTimeout(silence);
    request.off('data', onData).off('end', complete).off('close', closed);
  };
}
