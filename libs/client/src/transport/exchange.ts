/**
 * One HTTP exchange with a timeout. Network failures become a FlotillaError; every answer is
 * returned.
 */
import { FlotillaError } from '../flotilla-error.js';
import { aborted } from './back-off.js';

export interface ExchangeOptions {
  readonly fetch: typeof globalThis.fetch;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

export async function exchange(
  url: string,
  init: RequestInit,
  { fetch, timeoutMs, signal }: ExchangeOptions,
): Promise<Answer> {
  if (signal?.aborted) throw aborted(signal);
  const ending = new AbortController();
  const abort = (): void => ending.abort();
  signal?.addEventListener('abort', abort, { once: true });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    ending.abort();
  }, timeoutMs);
  try {
    const response = await fetch(url, { ...init, signal: ending.signal });
    return { status: response.status, text: await response.text(), headers: response.headers };
  } catch (cause) {
    if (signal?.aborted) throw aborted(signal);
    if (isLate)
      throw new FlotillaError('TIMEOUT', `${new URL(url).origin} did not answer within ${timeoutMs} ms.`, { cause });
    throw new FlotillaError('UNREACHABLE', `${new URL(url).origin} cannot be reached: ${reasonOf(cause)}.`, { cause });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

/** Node's fetch says only that it failed, and why in the cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof Error && 'code' in cause && cause.code === 'ERR_SSL_WRONG_VERSION_NUMBER')
    return 'the port has no TLS. Use an address that begins with http://';
  if (cause instanceof Error && cause.message !== '') return cause.message;
  return typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : error.message;
}
