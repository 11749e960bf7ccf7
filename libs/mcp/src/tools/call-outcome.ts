/** The outcome of one tool call, as records, jobs and the API share it. */
import type { CallErrorCode, NotSentCode } from '../error-codes.js';

/**
 * The possible outcomes of a call. REJECTED and NOT_SENT never reached the device; UNKNOWN may have
 * run. The session produces all but REJECTED.
 */
export type CallOutcomeKind = 'SUCCEEDED' | 'FAILED' | 'REJECTED' | 'UNKNOWN' | 'NOT_SENT';

/** Whether the bytes of a call were certainly not sent, perhaps sent, or handed to the socket. */
export type SendCertainty = 'NEVER' | 'MAYBE' | 'YES';

/** One item of a tool's answer in MCP form, after normalisation of dialects. */
export type ToolContent = { readonly type: string } & Readonly<Record<string, unknown>>;

/** A normalised answer of a tool: `content` in MCP form. */
export interface ToolResult {
  readonly content: readonly ToolContent[];
  readonly isError: boolean;
}

/** Why a call did not succeed. `rpcCode` is set only if the device gave one. */
export interface CallError {
  readonly code: CallErrorCode;
  readonly message: string;
  readonly rpcCode?: number;
}

/** The only outcome of a call. `result` is set if the device returned one, even with `isError`. */
export interface CallOutcome {
  readonly kind: CallOutcomeKind;
  readonly certainty: SendCertainty;
  readonly result?: ToolResult;
  readonly error?: CallError;
}

/** For calls that certainly did not reach their device. */
export function notSent(code: NotSentCode, message: string): CallOutcome {
  return { kind: 'NOT_SENT', certainty: 'NEVER', error: { code, message } };
}

/** For calls whose device has no session. */
export const deviceOffline = notSent('DEVICE_OFFLINE', 'The device is not connected. Nothing was sent.');
