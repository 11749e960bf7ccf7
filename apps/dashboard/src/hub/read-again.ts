/** When a read is repeated. */
import type { CombinedError } from 'urql';

type Failure = Pick<CombinedError, 'graphQLErrors' | 'networkError'>;

/** Between two reads while the hub is away or cannot answer, ms. */
const readAgainMs = 5_000;

/** Ms between two reads: sooner where the last one failed and the hub may answer the next. */
export function readEvery(refreshMs: number | undefined, error: Failure | undefined): number | undefined {
  if (error === undefined) return refreshMs;
  const isAway = error.networkError !== undefined && error.graphQLErrors.length === 0;
  const isBusy = error.graphQLErrors.some(({ extensions }) => extensions['code'] === 'UNAVAILABLE');
  return isAway || isBusy ? Math.min(readAgainMs, refreshMs ?? readAgainMs) : refreshMs;
}
