/**
 * The last good answer to a request stays while later reads of the same request fail, and a read is
 * repeated where its failure passes.
 */
import type { CombinedError } from 'urql';

/** Between two reads while the hub is away or cannot answer, ms. */
const readAgainMs = 5_000;

export interface Answer<Data> {
  /** Of the request: its query and its variables. */
  readonly key: number | undefined;
  readonly data: Data;
}

export interface Read<Data> {
  readonly key: number | undefined;
  /** Null or missing where the hub answered with errors alone. */
  readonly data: Data | null | undefined;
  readonly hasFailed: boolean;
}

/** A good answer to other variables is not kept: it is about something else. */
export function keptAnswer<Data>(good: Answer<Data> | undefined, { key, data, hasFailed }: Read<Data>) {
  if (hasFailed && good?.key === key) return good?.data ?? data ?? undefined;
  return data ?? undefined;
}

type Failure = Pick<CombinedError, 'graphQLErrors' | 'networkError'>;

/** Ms between two reads: sooner where the last one failed and the hub may answer the next. */
export function readEvery(refreshMs: number | undefined, error: Failure | undefined): number | undefined {
  if (error === undefined) return refreshMs;
  const isAway = error.networkError !== undefined && error.graphQLErrors.length === 0;
  const isBusy = error.graphQLErrors.some(({ extensions }) => extensions['code'] === 'UNAVAILABLE');
  return isAway || isBusy ? Math.min(readAgainMs, refreshMs ?? readAgainMs) : refreshMs;
}
