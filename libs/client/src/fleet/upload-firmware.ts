/** `POST /api/firmware`: an image as a form. */
import { FlotillaError } from '../flotilla-error.js';
import type { FirmwareKind } from '../generated/schema-types.js';
import { exchange, type ExchangeOptions } from '../transport/exchange.js';
import { refusalIn } from './job-results.js';

export interface FirmwareFile {
  readonly content: Blob;
  readonly fileName: string;
  /** ASSETS need a version; an image of FIRMWARE says its own. */
  readonly kind?: FirmwareKind;
  readonly version?: string;
  /** Detached Ed25519 signature over the content in base64. */
  readonly signature?: string;
}

/** Sent once: the hub would keep two. */
export async function uploadFirmware(
  url: string,
  headers: Readonly<Record<string, string>>,
  { content, fileName, kind, signature, version }: FirmwareFile,
  options: ExchangeOptions,
): Promise<string> {
  const form = new FormData();
  // Fields come before the file, so that the hub knows what it reads.
  if (kind !== undefined) form.append('kind', kind);
  if (version !== undefined) form.append('version', version);
  if (signature !== undefined) form.append('signature', signature);
  form.append('file', content, fileName);
  const answer = await exchange(
    url,
    { method: 'POST', credentials: 'same-origin', headers: { ...headers }, body: form },
    options,
  );
  if (answer.status !== 201) throw refusalIn(answer.text, answer.status);
  return idIn(answer.text);
}

function idIn(text: string): string {
  const value: unknown = JSON.parse(text);
  if (typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string') return value.id;
  throw new FlotillaError('BAD_RESPONSE', 'The upload was taken without an id.');
}
