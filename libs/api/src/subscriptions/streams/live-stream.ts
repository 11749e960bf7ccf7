/**
 * An async generator that can be ended while it waits. A plain generator's `return()` waits for the value that is being awaited, which for a quiet
 * subscription may never come; this one tells it through `signal` first.
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
