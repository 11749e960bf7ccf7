/**
 * An async generator that can end while it waits. The `return()` of a plain generator waits for the
 * pending value, which may never come; this one aborts the wait through `signal`.
 */
export function liveStream<Value>(
  produce: (signal: AbortSignal) => AsyncGenerator<Value, void, void>,
): AsyncGenerator<Value, void, void> {
  const ending = new AbortController();
  const source = produce(ending.signal);
  return Object.assign(Object.create(source) as AsyncGenerator<Value, void, void>, {
    next: () =>
      source.next().catch((error: unknown) => {
        // No reader is left for it, such as for a read that fails after they have left.
        if (ending.signal.aborted) return { done: true, value: undefined };
        throw error;
      }),
    return: () => {
      ending.abort();
      return source.return();
    },
    throw: (error: unknown) => {
      ending.abort();
      return source.throw(error);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  });
}
