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
    next: () => source.next(),
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
