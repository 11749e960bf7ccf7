/**
 * Subscriptions over the socket that the hub ends for a reason that passes, such as without its
 * database. They begin again, all together, and then lists and pages read what they missed.
 * Subscriptions of libs/client wait separately, and end after some attempts or if the hub rejects
 * the first one. Here they never end.
 */
import type { Client, FormattedExecutionResult, Sink, SubscribePayload } from 'graphql-ws/client';

/** Ms between the end of a subscription and its next attempt. */
const againMs = 5_000;

export class LastingSubscriptions implements Pick<Client, 'subscribe'> {
  readonly #waiting = new Set<() => void>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly socket: Pick<Client, 'subscribe'>,
    private readonly onMissed: () => void,
  ) {}

  /** Returns the function that ends it. */
  subscribe<Data = Record<string, unknown>, Extensions = unknown>(
    payload: SubscribePayload,
    sink: Sink<FormattedExecutionResult<Data, Extensions>>,
  ): () => void {
    let end = (): void => undefined;
    const begin = (): void => {
      let isOver = false;
      const beginLater = (): void => {
        isOver = true;
        end();
        this.#beginLater(begin);
      };
      end = this.socket.subscribe<Data, Extensions>(payload, {
        next: (result) => {
          if (isPassing(result.errors)) beginLater();
          else sink.next(result);
        },
        error: (error) => {
          if (isPassing(error)) beginLater();
          else sink.error(error);
        },
        complete: () => {
          if (!isOver) sink.complete();
        },
      });
    };
    begin();
    return () => {
      this.#waiting.delete(begin);
      end();
    };
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#waiting.clear();
  }

  #beginLater(begin: () => void): void {
    this.#waiting.add(begin);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (this.#waiting.size === 0) return;
      const begins = [...this.#waiting];
      this.#waiting.clear();
      for (const each of begins) each();
      this.onMissed();
    }, againMs);
  }
}

/** Not COST_LIMIT: it is about the query, and the hub would refuse it each time. */
const passing: ReadonlySet<unknown> = new Set(['UNAVAILABLE', 'TOO_SLOW', 'RATE_LIMITED']);

/** The errors of a result or of a refused operation; a close event has none. */
function isPassing(errors: unknown): boolean {
  return Array.isArray(errors) && errors.some((error: unknown) => passing.has(codeOf(error)));
}

function codeOf(error: unknown): unknown {
  return (error as { readonly extensions?: { readonly code?: unknown } } | null)?.extensions?.code;
}
