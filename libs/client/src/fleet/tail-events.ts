/**
 * An endless event stream without gaps: live events, plus events by cursor after a lost connection
 * or a full queue. Each event arrives once, in cursor order except for those read later.
 */
import type { ClientLimits } from '../client-options.js';
import { FlotillaError } from '../flotilla-error.js';
import {
  EventAddedDocument,
  EventsDocument,
  LatestEventDocument,
  type EventFieldsFragment,
} from '../generated/operations.js';
import type { EventFilter } from '../generated/schema-types.js';
import { LiveEvents } from './live-events.js';
import type { OperationSender } from '../operation.js';
import { backOffOf, pause } from '../transport/back-off.js';
import { passing } from '../transport/http-operations.js';
import { SeenEvents } from './seen-events.js';

export interface TailOptions {
  readonly filter?: EventFilter;
  /** The cursor of the last event that was seen; without it the tail begins now. */
  readonly after?: string;
  readonly signal?: AbortSignal;
}

export interface TailedEvent {
  /** Good for `after`, in another process and on another day too. */
  readonly cursor: string;
  readonly node: EventFieldsFragment;
}

/** Events of one page while catching up: the most that a page may have. */
const pageRows = 200;
/**
 * The hub does not confirm a subscription, so earlier events are read by cursor after this time,
 * ms.
 */
const settleMs = 1_000;

export async function* tailEvents(
  client: OperationSender,
  { filter = {}, after, signal }: TailOptions,
  limits: ClientLimits,
): AsyncGenerator<TailedEvent, void, void> {
  const requested = signal ? { signal } : {};
  const seen = new SeenEvents(after ?? (await latestCursor(client, filter, requested)));
  const live = new LiveEvents<TailedEvent>(limits.queueMax);
  const ending = new AbortController();
  const abort = (): void => ending.abort();
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  let settled: ReturnType<typeof setTimeout> | undefined;
  const missSome = (): void => {
    live.miss();
    clearTimeout(settled);
    settled = setTimeout(() => live.miss(), settleMs);
  };
  missSome();
  let [hasCaughtUp, failures] = [false, 0];
  listen(client, filter, live, { signal: ending.signal, missSome }).catch((error: unknown) => {
    live.fail(error);
    abort();
  });
  try {
    for (;;) {
      const next = await live.take();
      if (next !== 'missed') {
        if (seen.add(next)) yield next;
      } else {
        try {
          for await (const missed of eventsAfter(client, filter, seen.resumeAfter, requested))
            if (seen.add(missed)) yield missed;
          [hasCaughtUp, failures] = [true, 0];
        } catch (error) {
          // UNAVAILABLE is also the error of a filter that takes too long, which no retry helps.
          if (!hasCaughtUp || !mayPass(error) || failures >= limits.reconnectsMax) throw error;
          // The subscription goes on, and the gap comes before its events.
          await pause(backOffOf(++failures, limits), ending.signal).catch(() => undefined);
          live.miss();
        }
      }
    }
  } finally {
    clearTimeout(settled);
    ending.abort();
    signal?.removeEventListener('abort', abort);
  }
}

async function listen(
  client: OperationSender,
  filter: EventFilter,
  live: LiveEvents<TailedEvent>,
  { signal, missSome }: { readonly signal: AbortSignal; readonly missSome: () => void },
): Promise<void> {
  for (;;) {
    try {
      for await (const { eventAdded } of client.subscribe(
        EventAddedDocument,
        { filter },
        { signal, onConnected: missSome, onReconnect: missSome },
      ))
        live.push(eventAdded);
    } catch (error) {
      if (!isError(error, 'TOO_SLOW')) throw error;
      // Only the stream ended, not the connection: subscribe again and read the gap by cursor.
      missSome();
      continue;
    }
    throw new FlotillaError('UNAVAILABLE', 'The hub ended the subscription.');
  }
}

/** The hub may be gone again before the gap is read. */
function mayPass(error: unknown): boolean {
  return error instanceof FlotillaError && passing.has(error.code);
}

function isError(error: unknown, code: FlotillaError['code']): boolean {
  return error instanceof FlotillaError && error.code === code;
}

async function latestCursor(
  client: OperationSender,
  filter: EventFilter,
  options: { readonly signal?: AbortSignal },
): Promise<string | undefined> {
  const { events } = await client.request(LatestEventDocument, { filter }, options);
  return events.edges[0]?.cursor;
}

async function* eventsAfter(
  client: OperationSender,
  filter: EventFilter,
  start: string | undefined,
  options: { readonly signal?: AbortSignal },
): AsyncGenerator<TailedEvent, void, void> {
  for (let after = start; ;) {
    const { events } = await client.request(EventsDocument, { filter, first: pageRows, after }, options);
    yield* events.edges;
    if (!events.pageInfo.hasNextPage) return;
    after = events.pageInfo.endCursor ?? undefined;
  }
}
