/** `POST /api/firmware`: an image as a form. */
import { FlotillaError } from '../flotilla-error.js';
import type { FirmwareKind } from '../generated/schema-types.js';
import { exchange, type Answer, type ExchangeOptions } from '../transport/exchange.js';

export interface FirmwareFile {
  readonly content: Blob;
  readonly fileName: string;
  /** ASSETS need a version; an image of FIRMWARE says its own. */
  readonly kind?: FirmwareKind;
  readonly version?: string;
}

/** Sent once: the hub would keep two. */
export async function uploadFirmware(
  url: string,
  headers: Readonly<Record<string, string>>,
  { content, fileName, kind, version }: FirmwareFile,
  options: ExchangeOptions,
): Promise<string> {
  const form = new FormData();
  // Fields come before the file, so that the hub knows what it reads.
  if (kind !== undefined) form.append('kind', kind);
  if (version !== undefined) form.append('version', version);
  form.append('file', content, fileName);
  const answer = await exchange(url, { method: 'POST', credentials: 'same-origin', headers: { ...headers }, body: form }, options);
  const said = objectIn(answer);
  if (answer.status === 201 && typeof said['id'] === 'string') return said['id'];
  const { code, message } = said;
  if (typeof code === 'string' && typeof message === 'string') throw new FlotillaError(code, message, { status: answer.status });
  throw new FlotillaError('BAD_RESPONSE', `The upload was answered with ${answer.status}.`, { status: answer.status });
}

function objectIn({ text }: Answer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
