/**
 * The distinct results of a batch. Targets with the same result share one row, by the hash of its
 * body.
 */
import { createHash } from 'node:crypto';
import type { ToolResult } from '@flotilla/mcp';
import { storableText, toJson } from '../../database/json-rows.js';

/** Bytes of a stored result. A job multiplies the result of a device by the size of the fleet. */
const RESULT_BYTES_MAX = 8 * 1024;

/** Hex digits of a hash: 128 bits identify the results of one job. */
const RESULT_HASH_DIGITS = 32;

export class DistinctResults {
  /** By the JSON of the result. */
  readonly #found = new Map<string, { readonly hash: string; readonly body: string }>();

  /** Adds a result and returns its hash. */
  add(result: ToolResult): string {
    const text = toJson(result);
    const known = this.#found.get(text);
    if (known !== undefined) return known.hash;
    const body = bodyOf(text, result);
    const hash = createHash('sha256').update(body).digest('hex').slice(0, RESULT_HASH_DIGITS);
    this.#found.set(text, { hash, body });
    return hash;
  }

  get hashes(): readonly string[] {
    return [...this.#found.values()].map(({ hash }) => hash);
  }

  get bodies(): readonly string[] {
    return [...this.#found.values()].map(({ body }) => body);
  }
}

/** JSON of the result. A text with its beginning replaces one that is too long. */
function bodyOf(body: string, { isError }: ToolResult): string {
  const bytes = Buffer.byteLength(body);
  if (bytes <= RESULT_BYTES_MAX) return body;
  const kept = RESULT_BYTES_MAX / 4;
  // The end may be half of a surrogate pair.
  const begin = storableText(body.slice(0, kept));
  const beginning = `[${bytes} bytes, of which a job keeps the first ${kept}] ${begin}`;
  return JSON.stringify({ content: [{ type: 'text', text: beginning }], isError });
}
