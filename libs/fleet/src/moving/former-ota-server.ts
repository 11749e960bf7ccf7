/**
 * Asks the former server of boards: one request without redirects or repetitions, limited in time
 * and bytes. Its answers contain credentials, so neither they nor their errors are logged in full.
 */
import { Agent } from 'undici';
import type { FleetLogger } from '../fleet-logger.js';

interface FormerOtaOptions {
  /** The OTA address there, such as `http://old.example:8002/xiaozhi/ota/`. */
  readonly url: string;
  /** The name of this hub in `Via`, by which it finds requests that come back. [RFC 9110 §7.6.3] */
  readonly pseudonym: string;
  readonly logger: FleetLogger;
  readonly limits?: FormerOtaLimits;
}

interface FormerOtaLimits {
  /** From the connect to the last byte, ms. */
  readonly timeoutMs: number;
  /** Bytes of an answer; usual ones have fewer than 2,000. */
  readonly answerBytesMax: number;
}

const defaultFormerOtaLimits: FormerOtaLimits = { timeoutMs: 10_000, answerBytesMax: 64 * 1024 };

interface Asked {
  readonly method: string;
  readonly suffix: string;
  readonly rawHeaders: readonly string[];
  readonly body: Uint8Array;
  readonly address: string | undefined;
}

interface Answered {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
  readonly body: Uint8Array;
}

/** Headers of one connection, and those that the hub writes itself. */
const ownHeaders = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'host',
  'content-length',
  'x-real-ip',
  'x-forwarded-for',
]);
/** Connections at a time; the gateway limits the requests. */
const CONNECTIONS_MAX = 256;
/** While the former server is down, every board asks again about every minute. */
const LOG_EVERY_MS = 10_000;

export class FormerOtaServer {
  readonly #origin: string;
  readonly #path: string;
  readonly #limits: FormerOtaLimits;
  readonly #agent: Agent;
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: FormerOtaOptions) {
    const { limits = defaultFormerOtaLimits, url } = options;
    const { origin, pathname } = new URL(url);
    this.#origin = origin;
    this.#path = pathname;
    this.#limits = limits;
    const timeout = limits.timeoutMs;
    // Each request has its own connection: the other end may have closed an old one.
    this.#agent = new Agent({
      connections: CONNECTIONS_MAX,
      pipelining: 0,
      connect: { timeout },
      headersTimeout: timeout,
      bodyTimeout: timeout,
    });
  }

  /** Undefined: it is down, too slow, failed or sent too much. Never rejects. */
  async ask({ address, body, method, rawHeaders, suffix }: Asked): Promise<Answered | undefined> {
    if (this.#hasPassed(rawHeaders)) return this.#failed('it leads back to this hub: correct FLOTILLA_OTA_UPSTREAM');
    const signal = AbortSignal.timeout(this.#limits.timeoutMs);
    try {
      const answer = await this.#agent.request({
        origin: this.#origin,
        path: this.#pathOf(suffix),
        method: method === 'GET' ? 'GET' : 'POST',
        headers: [...passedHeaders(rawHeaders), ...addressHeaders(address), 'Via', `1.1 ${this.options.pseudonym}`],
        body: method === 'GET' && body.length === 0 ? null : body,
        signal,
      });
      const text = await readLimited(answer.body, this.#limits.answerBytesMax);
      const problem = text === undefined ? 'its answer is too long' : problemOf(answer.statusCode);
      if (text === undefined || problem !== undefined) return this.#failed(problem);
      const { headers, statusCode: status } = answer;
      return {
        status,
        contentType: one(headers['content-type']),
        contentEncoding: one(headers['content-encoding']),
        body: text,
      };
    } catch (error) {
      return this.#failed(signal.aborted ? 'it did not answer in time' : codeOf(error));
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  #hasPassed(rawHeaders: readonly string[]): boolean {
    return headerPairs(rawHeaders)
      .filter(([name]) => name.toLowerCase() === 'via')
      .flatMap(([, value]) => value.split(','))
      .some((hop) => hop.trim().split(/\s+/)[1] === this.options.pseudonym);
  }

  #pathOf(suffix: string): string {
    if (suffix === '' || suffix.startsWith('?')) return this.#path + suffix;
    return this.#path.replace(/\/$/, '') + suffix;
  }

  #failed(problem: string | undefined): undefined {
    const now = performance.now();
    if (now - this.#loggedAt < LOG_EVERY_MS) return undefined;
    this.#loggedAt = now;
    this.options.logger.warn({ origin: this.#origin, problem }, 'the former server of boards has no usable answer');
    return undefined;
  }
}

/** All headers of the board, except those of its connection. */
function passedHeaders(raw: readonly string[]): string[] {
  const pairs = headerPairs(raw);
  const named = pairs
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.split(',').map((part) => part.trim().toLowerCase()));
  const dropped = new Set([...ownHeaders, ...named]);
  return pairs.flatMap(([name, value]) => (dropped.has(name.toLowerCase()) ? [] : [name, value]));
}

function headerPairs(raw: readonly string[]): readonly (readonly [name: string, value: string])[] {
  return raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1] ?? ''] as const] : []));
}

/** Some servers choose their settings by the address of the board. */
function addressHeaders(address: string | undefined): string[] {
  return address === undefined ? [] : ['X-Real-IP', address, 'X-Forwarded-For', address];
}

/** Undefined if there are more bytes. */
async function readLimited(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop early destroys the body and its connection.
  for await (const chunk of body) {
    size += chunk.length;
    if (size > bytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function problemOf(status: number): string | undefined {
  return status >= 500 ? `it answered ${String(status)}` : undefined;
}

function one(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.[0];
}

/** A message could quote what was sent. */
function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown error';
}
