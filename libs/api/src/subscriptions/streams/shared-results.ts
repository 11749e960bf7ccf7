/**
 * Runs subscriptions. Subscribers with the same operation share the result of an event: it depends
 * only on the event, and access was checked before.
 */
import { createSourceEventStream, execute, type ExecutionArgs, type ExecutionResult } from 'graphql';
import type { FeedEvent } from '@flotilla/bus';
import type { ApiLogger } from '../../api-logger.js';
import { toPublicErrors } from '../../errors/public-errors.js';
import { EventBatch, type EventAddition } from './event-additions.js';
import { shownOperation } from './shown-operation.js';

export interface LiveArgs extends ExecutionArgs {
  /** Sends results that are JSON already, each as a message; resolves when the next may follow. */
  readonly sendPayloads: (payloads: readonly Buffer[]) => Promise<void>;
}

/** The JSON of a result, fit for the public; a promise until it is there. */
type SharedPayload = Buffer | Promise<Buffer>;

export class SharedResults {
  /** By event, while subscribers still wait for it, then by operation. */
  readonly #byEvent = new WeakMap<FeedEvent, Map<string, SharedPayload>>();

  constructor(private readonly logger: ApiLogger) {}

  /** As `subscribe` of graphql, but that results of events are sent and not given. */
  readonly subscribe = async (
    args: LiveArgs,
  ): Promise<AsyncGenerator<ExecutionResult, void, void> | ExecutionResult> => {
    const source = await createSourceEventStream(args);
    if (!(Symbol.asyncIterator in source)) return source;
    const shown = shownOperation(args);
    const shared: ExecutionArgs = { schema: args.schema, contextValue: args.contextValue, ...shown.args };
    return resolved(source, async (value) => {
      if (!(value instanceof EventBatch)) return execute({ ...args, rootValue: value });
      const payloads = value.events.map((event) =>
        this.#payloadOf(event, shown.key, () => this.#run(shared, value.additionOf(event))),
      );
      await args.sendPayloads(payloads.every(isReady) ? payloads : await Promise.all(payloads));
      return undefined;
    });
  };

  #payloadOf(event: FeedEvent, operation: string, run: () => SharedPayload): SharedPayload {
    let payloads = this.#byEvent.get(event);
    if (payloads === undefined) this.#byEvent.set(event, (payloads = new Map<string, SharedPayload>()));
    let payload = payloads.get(operation);
    if (payload === undefined) payloads.set(operation, (payload = run()));
    return payload;
  }

  #run(args: ExecutionArgs, addition: EventAddition): SharedPayload {
    const result = execute({ ...args, rootValue: addition });
    return result instanceof Promise ? result.then((late) => this.#written(late)) : this.#written(result);
  }

  #written(result: ExecutionResult): Buffer {
    const shown = result.errors
      ? { data: result.data ?? null, errors: toPublicErrors(result.errors, this.logger) }
      : result;
    return Buffer.from(JSON.stringify(shown));
  }
}

function isReady(payload: SharedPayload): payload is Buffer {
  return Buffer.isBuffer(payload);
}

/**
 * Ends with its source, at once; a generator would wait for the next value. Skips results that
 * `resultOf` has sent itself.
 */
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
