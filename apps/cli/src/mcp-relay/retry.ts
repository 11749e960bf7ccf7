/** What is retried when a connection fails, how often, and what the host finally receives. */
import {
  SdkHttpError,
  UnauthorizedError,
  type JSONRPCErrorResponse,
  type JSONRPCRequest,
} from '@modelcontextprotocol/client';
import type { SendingEnd } from './open-request.js';

/** The longest pause between two attempts, ms. */
const pauseMsMax = 30_000;

/**
 * The notification stream of the former revision is reopened without a limit, because an updated
 * hub returns. The pause before it, ms.
 */
export const newsReconnection = {
  initialReconnectionDelay: 500,
  maxReconnectionDelay: pauseMsMax,
  reconnectionDelayGrowFactor: 2,
  maxRetries: Number.POSITIVE_INFINITY,
};

/** Ms until something is tried again after this many attempts: doubling, with chance in it. */
export function pauseMsAfter(attempt: number, chance = Math.random()): number {
  return Math.min(pauseMsMax, 500 * 2 ** Math.min(attempt - 1, 10)) * (0.5 + chance / 2);
}

/** Attempts of a read-only request: about eight seconds with pauses, less than hosts wait. */
const attemptsMax = 5;

/**
 * Ms until the next attempt; undefined to stop. A tool call is sent once, because the tool may have
 * run.
 */
export function retryAfterMs(
  { method }: JSONRPCRequest,
  end: SendingEnd,
  attempt: number,
  chance = Math.random(),
): number | undefined {
  if (isRefusal(end)) return undefined;
  const isEndless = method === 'subscriptions/listen';
  if (!isEndless && (method === 'tools/call' || attempt >= attemptsMax)) return undefined;
  return pauseMsAfter(attempt, chance);
}

/** The hub has answered, and would answer the same again. */
function isRefusal(end: SendingEnd): boolean {
  return end instanceof UnauthorizedError || (end instanceof SdkHttpError && end.status < 500 && end.status !== 429);
}

/** JSON-RPC leaves -32000 and below to servers. */
const UNREACHABLE = -32_000;

export function unansweredError({ id, method }: JSONRPCRequest, end: SendingEnd): JSONRPCErrorResponse {
  const reason = end instanceof Error ? end.message : 'the connection broke before the answer';
  const advice =
    method === 'tools/call' && !isRefusal(end)
      ? ' Outcome unknown: the device may have done it. Read its state back first.'
      : '';
  return { jsonrpc: '2.0', id, error: { code: UNREACHABLE, message: `The hub did not answer: ${reason}.${advice}` } };
}
