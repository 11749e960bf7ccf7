/**
 * How a device family writes greetings, listings, calls and answers. The session machine knows only
 * this interface. A family also needs an ingress, a registration and more: the steps are in
 * CONTRIBUTING.md, "A device family".
 */
import type { DeviceInfo, NotSentCode, ToolPage, ToolResult } from '@flotilla/mcp';
import type { CallArguments, SessionAnomaly } from './session-contract.js';

/** An error as the device reported it. */
export interface DeviceError {
  readonly message: string;
  /** Set only if the device gave a number. */
  readonly rpcCode: number | undefined;
  /** The device reports that it does not have the tool. */
  readonly isToolGone: boolean;
}

/** Why a call cannot be encoded for this family. */
export interface CallRefusal {
  readonly code: NotSentCode;
  readonly message: string;
}

/** A call as two messages. The answer to `proof` shows that the device processed `text`. */
export interface ProvenMessage {
  readonly text: string;
  readonly proof: string;
}

/**
 * A parsed message of the device. `garbled` is a message that breaks the protocol; `id` is the
 * request it answers, if readable.
 */
export type DialectMessage =
  | { readonly kind: 'result'; readonly id: number; readonly result: unknown }
  | { readonly kind: 'error'; readonly id: number; readonly error: DeviceError }
  /** The device could not read the request in flight. It cannot name it, but there is only one. */
  | { readonly kind: 'unread'; readonly error: DeviceError }
  | { readonly kind: 'request'; readonly method: string }
  | { readonly kind: 'notification'; readonly method: string; readonly params: unknown }
  | {
      readonly kind: 'message';
      readonly type: string;
      /** Whether devices of this family are known to send this type. */
      readonly isKnown: boolean;
      readonly message: Readonly<Record<string, unknown>>;
    }
  | {
      readonly kind: 'garbled';
      readonly id: number | undefined;
      readonly anomaly: SessionAnomaly;
      readonly problem: string;
      /** The received text, for diagnosis. */
      readonly text: string;
    };

/**
 * One object per session. It may keep values that messages repeat (such as an id), never requests
 * or answers. Its methods do not throw.
 */
export interface Dialect {
  /** The largest request id that these devices return unchanged; ids start at 1. */
  readonly requestIdMax: number;
  /**
   * The tool without arguments that returns the device's state as JSON text; undefined if the
   * family has none.
   */
  readonly statusTool: string | undefined;
  /** These devices accept no second request, so a background call is not abandoned. */
  readonly isOneAtATime?: boolean;
  encodeGreeting(id: number): string;
  /** The message after the greeting was answered; it has no answer. */
  encodeGreeted(): string | undefined;
  /** A family that lists without pages ignores the cursor, and its pages have no next cursor. */
  encodePageRequest(id: number, cursor: string | undefined): string;
  /**
   * Takes each tool, also the hub tools of libs/mcp: refuse those that the family cannot show,
   * with `TOOL_UNKNOWN`. Refuse a request that the device could not read, too.
   */
  encodeCall(id: number, tool: string, args: CallArguments): string | ProvenMessage | CallRefusal;
  encodeMessage(message: Readonly<Record<string, unknown>>): string;
  read(text: string): DialectMessage;
  /**
   * Cuts the text of a page out of an answer to request `id`; undefined for an unusual form. The
   * families share a cache with it as key: begin it with a mark if another could send the same.
   */
  pageTextOf(text: string, id: number): string | undefined;
  readGreeting(result: unknown): DeviceInfo;
  /** Returns undefined if the value is not a page. */
  readPage(result: unknown): ToolPage | undefined;
  /** Returns undefined if the value is not an answer of this tool. */
  readToolResult(result: unknown, tool: string): ToolResult | undefined;
}
