/** How one tool call ended, in the words that records, jobs and the API share. */
import type { CallErrorCode } from '../error-codes.js';

/**
 * What a single call may end in. REJECTED and NOT_SENT are certain never to have reached the device; UNKNOWN may have run there.
 * The session produces all but REJECTED, which is given before the wire.
 */
export type CallOutcomeKind = 'SUCCEEDED' | 'FAILED' | 'REJECTED' | 'UNKNOWN' | 'NOT_SENT';

/** Evidence about the bytes of a call: certainly not sent, perhaps, or handed to the socket. */
export type SendCertainty = 'NEVER' | 'MAYBE' | 'YES';

/** One item of a tool's answer as MCP defines it, after normalisation of device dialects. */
export type ToolContent = { readonly type: string } & Readonly<Record<string, unknown>>;

/** A tool's answer, normalised: `content` as MCP has it. */
export interface ToolResult {
  readonly content: readonly ToolContent[];
  readonly isError: boolean;
}

/** Why a call did not succeed. `rpcCode` only where the device gave one. */
export interface CallError {
  readonly code: CallErrorCode;
  readonly message: string;
  readonly rpcCode?: number;
}

/** The one and only end of a call. `result` is there when the device answered with one, also when it says `isError`. */
export interface CallOutcome {
  readonly kind: CallOutcomeKind;
  readonly certainty: SendCertainty;
  readonly result?: ToolResult;
  readonly error?: CallError;
}
