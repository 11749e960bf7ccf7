/**
 * Fetches what clients of OAuth publish about themselves. Strangers choose the address, so only
 * public ones are reached, without redirects, and with bounds of time, bytes and number.
 */
import { request } from 'undici';
import type { Agent } from 'undici';
import { openGuardedAgent } from '../webhooks/guarded-agent.js';

/** A document is small and has little to compute. */
const TIMEOUT_MS = 5_000;
const BYTES_MAX = 64 * 1024;
/** At the same time, in one process. */
const AT_A_TIME = 8;

export interface ClientDocument {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** As `ClientDocuments.fetch`, which specs replace. */
export type FetchDocument = (url: string) => Promise<ClientDocument>;

export class ClientDocuments {
  readonly #agent: Agent = openGuardedAgent({ connections: 2, timeoutMs: TIMEOUT_MS });
  #underWay = 0;

  /** Rejects for addresses that are not public, and beyond the bounds. */
  readonly fetch: FetchDocument = async (url) => {
    if (new URL(url).protocol !== 'https:') throw new Error('A client document has an https address.');
    if (this.#underWay >= AT_A_TIME) throw new Error('Too many client documents are being fetched.');
    this.#underWay += 1;
    try {
      return await this.#get(url);
    } finally {
      this.#underWay -= 1;
    }
  };

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  async #get(url: string): Promise<ClientDocument> {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const answer = await request(url, {
      dispatcher: this.#agent,
      method: 'GET',
      signal,
      headers: { accept: 'application/json', 'user-agent': 'Flotilla' },
    });
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
      bytes += chunk.byteLength;
      if (bytes > BYTES_MAX) {
        answer.body.destroy();
        throw new Error(`A client document has at most ${BYTES_MAX} bytes.`);
      }
      chunks.push(chunk);
    }
    const headers = Object.fromEntries(
      Object.entries(answer.headers).flatMap(([name, value]) =>
        value === undefined || !/^(cache-control|content-type|expires)$/.test(name)
          ? []
          : [[name, [value].flat().join(', ')]],
      ),
    );
    return { status: answer.statusCode, headers, body: Uint8Array.from(Buffer.concat(chunks)) };
  }
}
