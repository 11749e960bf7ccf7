/**
 * How a family of devices speaks: how to greet, list and call, and how to read what comes back. The session machine knows only this seam; a new family
 * is one more folder beside xiaozhi/.
 */
import type { DeviceInfo, NotSentCode, ToolPage, ToolResult } from '@flotilla/mcp';
import type { CallArguments, SessionAnomaly } from './session-contract.js';

/** A failure as the device told it. */
export interface DeviceError {
  readonly message: string;
  /** Only where the device gave a number. */
  readonly rpcCode: number | undefined;
  /** The device says that it does not have the tool. */
  readonly isToolGone: boolean;
}

/** Why a call cannot be put into words for such a device. */
export interface CallRefusal {
  readonly code: NotSentCode;
  readonly message: string;
}

/** A call as two messages: the first says it and expects no answer, the answer to the second shows that the device came as far as the first. */
export interface ProvenMessage {
  readonly text: string;
  readonly proof: string;
}

/** A message of the device, read. Anything strange is `garbled`; then `id` names the request that it was meant to answer, where that is readable. */
export type DialectMessage =
  | { readonly kind: 'result'; readonly id: number; readonly result: unknown }
  | { readonly kind: 'error'; readonly id: number; readonly error: DeviceError }
  /** The device could not read the request in flight; it cannot say which one that was, but there is only one. */
  | { readonly kind: 'unread'; readonly error: DeviceError }
  | { readonly kind: 'request'; readonly method: string }
  | { readonly kind: 'notification'; readonly method: string; readonly params: unknown }
  | {
      readonly kind: 'message';
      readonly type: string;
      /** Whether such devices are known to send this type. */
      readonly isKnown: boolean;
      readonly message: Readonly<Record<string, unknown>>;
    }
  | {
      readonly kind: 'garbled';
      readonly id: number | undefined;
      readonly anomaly: SessionAnomaly;
      readonly problem: string;
      /** What came, for whoever has to find out why. */
      readonly text: string;
    };

/** One object per session: it may remember what the conversation needs (an id to repeat), never requests or answers. Nothing here throws. */
export interface Dialect {
  /** Largest request id that these devices give back unchanged; ids run from 1. */
  readonly requestIdMax: number;
  /** The tool without arguments that tells the device's state as JSON text; undefined where the family has none. */
  readonly statusTool: string | undefined;
  /** These devices must not be sent a request while they work on another: a background call then does not give way. */
  readonly isOneAtATime?: boolean;
  encodeGreeting(id: number): string;
  /** What is said once the greeting was answered, and expects no answer. */
  encodeGreeted(): string | undefined;
  encodePageRequest(id: number, cursor: string | undefined): string;
  encodeCall(id: number, tool: string, args: CallArguments): string | ProvenMessage | CallRefusal;
  encodeMessage(message: Readonly<Record<string, unknown>>): string;
  read(text: string): DialectMessage;
  /**
   * The text of a page's own result, where the whole message has exactly the shape in which these devices answer request `id`: equal texts then are
   * equal pages. Undefined otherwise; cheap, no parsing.
   */
  pageTextOf(text: string, id: number): string | undefined;
  readGreeting(result: unknown): DeviceInfo;
  /** Undefined where it is no page at all. */
  readPage(result: unknown): ToolPage | undefined;
  /** Undefined where it is no answer of this tool at all. */
  readToolResult(result: unknown, tool: string): ToolResult | undefined;
}
