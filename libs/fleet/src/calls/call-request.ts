/** A request for one tool call, its answer, and the rules for requests that need no device. */
import { argumentsBytesMax, callTimeoutMsMax, callTimeoutMsMin } from '@flotilla/jobs';
import type { CallRow } from '@flotilla/registry';
import { refuseKey } from '../idempotency/refuse-key.js';
import { refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';

export interface CallRequest {
  readonly deviceId: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Ms from now to the outcome, 1,000 to 300,000; the policy of the tool has the default. */
  readonly timeoutMs?: number;
  /** A repetition of the same request with the same key returns the first call. */
  readonly idempotencyKey?: string;
  /** The trace of the caller, as a W3C `traceparent`. */
  readonly trace?: string | undefined;
}

/** A refused call that has a record has both members; other refusals have no call. */
export interface CallAnswer {
  readonly call?: CallRow;
  readonly refusal?: Refusal;
}

/** Characters of a tool name from a caller; names are stored and indexed. */
const nameLengthMax = 200;

export function refuseRequest(request: CallRequest): Refusal | undefined {
  const { tool, arguments: args, timeoutMs, idempotencyKey } = request;
  if (tool === '' || tool.length > nameLengthMax)
    return refuse('INVALID', ['input', 'tool'], `The name of a tool has 1 to ${nameLengthMax} characters.`);
  if (timeoutMs !== undefined && !isCallTimeout(timeoutMs)) {
    const message = `timeoutMs is a whole number from ${callTimeoutMsMin} to ${callTimeoutMsMax}.`;
    return refuse('INVALID', ['input', 'timeoutMs'], message);
  }
  const invalidKey = idempotencyKey === undefined ? undefined : refuseKey(idempotencyKey, ['input', 'idempotencyKey']);
  if (invalidKey !== undefined) return invalidKey;
  if (Buffer.byteLength(JSON.stringify(args)) <= argumentsBytesMax) return undefined;
  const message = `The arguments are larger than ${argumentsBytesMax} bytes of JSON.`;
  return refuse('REQUEST_TOO_LARGE', ['input', 'arguments'], message);
}

function isCallTimeout(timeoutMs: number): boolean {
  return Number.isInteger(timeoutMs) && timeoutMs >= callTimeoutMsMin && timeoutMs <= callTimeoutMsMax;
}
