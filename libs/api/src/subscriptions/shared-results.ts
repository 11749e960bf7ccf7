/**
 * Runs subscriptions. An event that many subscribers hear of by the same operation is resolved and written once for all of them: what is shown of an event
 * depends on nothing but the event, and who may see it was decided before it came here.
 */
import { createSourceEventStream, execute, type ExecutionArgs, type ExecutionResult } from 'graphql';
import type { FeedEvent } from '@flotilla/bus';
import { EventAddition } from './event-additions.js';

export interface LiveArgs extends ExecutionArgs {
  /** Sends a result that is text already; resolves when the next one may follow. */
  readonly sendPayload: (text: string) => Promise<void>;
}

/** `text` where it may be sent as it is; errors are first made fit for the public. */
interface SharedResult {
  readonly result: ExecutionResult;
  readonly text: string | undefined;
}

export class SharedResults {
  /** By event, as long as anybody is to be told of it, then by operation. */
  readonly #byEvent = new WeakMap<FeedEvent, Map<string, Promise<SharedResult>>>();

  /** As `subscribe` of graphql, but that results that are text already are sent and not given. */
  readonly subscribe = async (args: LiveArgs): Promise<AsyncGenerator<ExecutionResult, void, void> | ExecutionResult> => {
    const source = await createSourceEventStream(args);
    if (!(Symbol.asyncIterator in source)) return source;
    const operation = operationOf(args);
    return resolved(source, async (value) => {
      if (!(value instanceof EventAddition)) return execute({ ...args, rootValue: value });
      const { result, text } = await this.#resultOf(args, operation, value);
      if (text === undefined) return result;
      await args.sendPayload(text);
      return undefined;
    });
  };

  #resultOf(args: ExecutionArgs, operation: string, value: EventAddition): Promise<SharedResult> {
    const results = this.#byEvent.get(value.node) ?? new Map<string, Promise<SharedResult>>();
    this.#byEvent.set(value.node, results);
    const shared = results.get(operation) ?? shareable(execute({ ...args, rootValue: value }));
    results.set(operation, shared);
    return shared;
  }
}

async function shareable(running: ExecutionResult | Promise<ExecutionResult>): Promise<SharedResult> {
  const result = await running;
  return { result, text: result.errors ? undefined : JSON.stringify(result) };
}

/** Equal for operations that show the same. */
function operationOf({ document, operationName, variableValues }: ExecutionArgs): string {
  return JSON.stringify([document.loc?.source.body, operationName ?? null, variableValues ?? null]);
}

/** Ends with its source, and ends it at once: a generator would wait for the next value first. What `resultOf` has sent itself, it does not give. */
function resolved(
  source: AsyncIterable<unknown>,
  resultOf: (value: unknown) => Promise<ExecutionResult | undefined>,
): AsyncGenerator<ExecutionResult, void, void> {
  const values = source[Symbol.asyncIterator]();
  const next = async (): Promise<IteratorResult<ExecutionResult, void>> => {
    for (let step = await values.next(); step.done !== true; step = await values.next()) {
      try {
        const result = await resultOf(step.value);
        if (result !== undefined) return { done: false, value: result };
      } catch (error) {
        await values.return?.();
        throw error;
      }
    }
    return { done: true, value: undefined };
  };
  return {
    next,
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
