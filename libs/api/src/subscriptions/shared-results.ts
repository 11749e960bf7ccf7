/**
 * Runs subscriptions. An event that many subscribers hear of by the same operation is resolved once for all of them: what is shown of an event depends on
 * nothing but the event, and who may see it was decided before it came here.
 */
import { createSourceEventStream, execute, type ExecutionArgs, type ExecutionResult } from 'graphql';
import type { FeedEvent } from '@flotilla/bus';
import { EventAddition } from './event-additions.js';

type Result = ExecutionResult | Promise<ExecutionResult>;

export class SharedResults {
  /** By event, as long as anybody is to be told of it, then by operation. */
  readonly #byEvent = new WeakMap<FeedEvent, Map<string, Result>>();

  /** As `subscribe` of graphql. */
  readonly subscribe = async (args: ExecutionArgs): Promise<AsyncGenerator<ExecutionResult, void, void> | ExecutionResult> => {
    const source = await createSourceEventStream(args);
    if (!(Symbol.asyncIterator in source)) return source;
    const operation = operationOf(args);
    return resolved(source, (value) => this.#resultOf(args, operation, value));
  };

  #resultOf(args: ExecutionArgs, operation: string, value: unknown): Result {
    const run = (): Result => execute({ ...args, rootValue: value });
    if (!(value instanceof EventAddition)) return run();
    const results = this.#byEvent.get(value.node) ?? new Map<string, Result>();
    this.#byEvent.set(value.node, results);
    const result = results.get(operation) ?? run();
    results.set(operation, result);
    return result;
  }
}

/** Equal for operations that show the same. */
function operationOf({ document, operationName, variableValues }: ExecutionArgs): string {
  return JSON.stringify([document.loc?.source.body, operationName ?? null, variableValues ?? null]);
}

/** Ends with its source, and ends it at once: a generator would wait for the next value first. */
function resolved(source: AsyncIterable<unknown>, resultOf: (value: unknown) => Result): AsyncGenerator<ExecutionResult, void, void> {
  const values = source[Symbol.asyncIterator]();
  const next = async (step: IteratorResult<unknown>): Promise<IteratorResult<ExecutionResult, void>> => {
    if (step.done === true) return { done: true, value: undefined };
    try {
      return { done: false, value: await resultOf(step.value) };
    } catch (error) {
      await values.return?.();
      throw error;
    }
  };
  return {
    next: async () => next(await values.next()),
    return: async () => {
      await values.return?.();
      return { done: true, value: undefined };
    },
    throw: async (error: unknown) => {
      await values.return?.();
      throw error;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
