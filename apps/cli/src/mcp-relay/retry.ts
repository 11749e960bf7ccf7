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
export const notificationReconnection = {
  initialReconnectionDelay: 500,
  maxReconnectionDelay: pauseMsMax,
  reconnectionDelayGrowFactor: 2,
  maxRetries: Number.POSITIVE_INFINITY,
};

/** Ms until the next attempt after this many: doubling, with random jitter (`chance`). */
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
  if (isRejection(end)) return undefined;
  const isEndless = method === 'subscriptions/listen';
  if (!isEndless && (method === 'tools/call' || attempt >= attemptsMax)) return undefined;
  return pauseMsAfter(attempt, chance);
}

/** Whether the hub rejected the request, and would reject it again. */
function isRejection(end: SendingEnd): boolean {
  return end instanceof UnauthorizedError || (end instanceof SdkHttpError && end.status < 500 && end.status !== 429);
}

/** JSON-RPC reserves -32000 to -32099 for servers. */
const SERVER_ERROR = -32_000;

/** The error that the host receives instead of an answer of the hub. */
export function unansweredError({ id, method }: JSONRPCRequest, end: SendingEnd): JSONRPCErrorResponse {
  const reason = end instanceof Error ? end.message : 'the connection broke before the answer';
  return { jsonrpc: '2.0', id, error: { code: SERVER_ERROR, message: messageOf(method, end, reason) } };
}

function messageOf(method: string, end: SendingEnd, reason: string): string {
  if (isRejection(end))
    return `The hub rejected the request: ${reason}.${isKeyProblem(end) ? ' Check the API key and its scopes.' : ''}`;
  if (isRefusedForNow(end))
    return `The hub refused the request for now: ${reason}. Nothing was sent to a device; try again later.`;
  return `The hub did not answer: ${reason}.${method === 'tools/call' ? outcomeUnknown : ''}`;
}

const outcomeUnknown = ' Outcome unknown: the device may have done it. Read its state back first.';

function isKeyProblem(end: SendingEnd): boolean {
  return end instanceof UnauthorizedError || (end instanceof SdkHttpError && [401, 403].includes(end.status));
}

/** The hub is too busy, or cannot check keys. It refuses before a request runs; a proxy may not. */
function isRefusedForNow(end: SendingEnd): boolean {
  if (!(end instanceof SdkHttpError)) return false;
  return end.status === 429 || (end.status === 503 && isRefusal(end.data['text']));
}

/** The hub's own refusal, as at `/mcp`. */
function isRefusal(body: unknown): boolean {
  try {
    const refusal: unknown = JSON.parse(String(body));
    return typeof refusal === 'object' && refusal !== null && Reflect.get(refusal, 'code') === 'UNAVAILABLE';
  } catch {
    return false;
  }
}
