/**
 * The refusal of a recorded call that was not sent. A repetition with the same idempotency key gets
 * the same refusal.
 */
import type { NotSentCode } from '@flotilla/mcp';
import type { CallRow } from '@flotilla/registry';
import { refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';

/** The part of the request that each code is about. */
const partOf: Readonly<Record<NotSentCode, readonly string[]>> = {
  DEVICE_OFFLINE: ['input', 'deviceId'],
  TOOL_UNKNOWN: ['input', 'tool'],
  TOOL_FORBIDDEN: ['input', 'tool'],
  ARGUMENTS_INVALID: ['input', 'arguments'],
  REQUEST_TOO_LARGE: ['input', 'arguments'],
  LARGE_MESSAGES_LOST: ['input', 'arguments'],
  URL_FORBIDDEN: ['input', 'arguments'],
  APPROVAL_REQUIRED: ['input', 'tool'],
  OVERLOADED: [],
  UNAVAILABLE: [],
};

/** Undefined for a call that was sent, or may have been. */
export function refusalOfCall({ outcome, error }: Pick<CallRow, 'outcome' | 'error'>): Refusal | undefined {
  if (outcome !== 'REJECTED' && outcome !== 'NOT_SENT') return undefined;
  // An unsent call has one of these codes. Any other code is an error of the gateway.
  const code = isNotSentCode(error?.code) ? error.code : 'DEVICE_OFFLINE';
  return refuse(code, partOf[code], error?.message ?? 'The call was not sent.');
}

function isNotSentCode(code: string | undefined): code is NotSentCode {
  return code !== undefined && code in partOf;
}
