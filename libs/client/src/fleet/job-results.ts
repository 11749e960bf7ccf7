/** `GET /api/jobs/:id/results.*`: the outcome of every device of a job, as the hub reads them. */
import { FlotillaError } from '../flotilla-error.js';

export type JobResultsFormat = 'csv' | 'jsonl';

interface DownloadOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof globalThis.fetch;
  readonly signal: AbortSignal | undefined;
}

/** The file in pieces. It has no time limit: a million lines take as long as their reader. */
export async function* jobResults(
  url: string,
  { headers, fetch, signal }: DownloadOptions,
): AsyncGenerator<Uint8Array, void, void> {
  const response = await reach(
    url,
    () => fetch(url, { credentials: 'same-origin', headers: { ...headers }, signal: signal ?? null }),
    signal,
  );
  if (!response.ok) throw refusalIn(await response.text(), response.status);
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  try {
    for (;;) {
      const { done, value } = await reach(url, () => reader.read(), signal);
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

async function reach<Result>(
  url: string,
  act: () => Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  try {
    return await act();
  } catch (cause) {
    if (signal?.aborted) throw new FlotillaError('ABORTED', 'The caller gave up.', { cause });
    throw new FlotillaError('UNREACHABLE', `The connection to ${new URL(url).origin} broke.`, { cause });
  }
}

/** What REST routes answer with: `{"code","message"}`. */
export function refusalIn(text: string, status: number): FlotillaError {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && 'code' in value && 'message' in value)
      return new FlotillaError(String(value.code), String(value.message), { status });
  } catch {
    // Not of the hub's making.
  }
  return new FlotillaError('BAD_RESPONSE', `The answer was ${status} and no word of the hub's.`, { status });
}
