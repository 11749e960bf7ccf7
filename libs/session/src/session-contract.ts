/**
 * The public interface of a session. The actor is in session-actor.ts, its decisions are in
 * session-machine.ts.
 */
import type { CallId, CallOutcome, CloseReason, DeviceInfo, DiscoveredTools, ToolPage } from '@flotilla/mcp';

/**
 * connecting: transport starts. greeting: identifies the device. discovering: lists its tools.
 * ready: accepts calls.
 */
export type SessionState = 'connecting' | 'greeting' | 'discovering' | 'ready' | 'closing' | 'closed';

/** Arguments of a call, validated against the schema of the tool: plain data, sent unchanged. */
export type CallArguments = Readonly<Record<string, unknown>>;

/** One tool call as a session accepts it. */
export interface SessionCall {
  readonly callId: CallId;
  readonly tool: string;
  readonly arguments: CallArguments;
  /** Absolute, ms since the Unix epoch. A call not handed to the socket by then ends NOT_SENT. */
  readonly queueDeadlineAt: number;
  /** The time for the answer after the bytes were handed to the socket. */
  readonly callTimeoutMs: number;
  /**
   * An absolute limit for the answer, in addition to `callTimeoutMs`. Single calls have one,
   * targets of jobs do not.
   */
  readonly callDeadlineAt?: number;
  /** The call is sent only to an idle device, and is abandoned for the next ordinary call. */
  readonly isBackground?: boolean;
}

/** A settled call. `sentAt` is absent if nothing was sent; times are ms since the Unix epoch. */
export interface SettledCall {
  readonly callId: CallId;
  readonly outcome: CallOutcome;
  readonly sentAt?: number;
  readonly settledAt: number;
  /** Nothing was sent, because the device moves to another gateway, which can take the call. */
  readonly isMoving?: true;
}

/** Unexpected behaviour of devices: counted and visible, never fatal. */
export type SessionAnomaly =
  | 'unparseable_message'
  | 'invalid_envelope'
  | 'unknown_message_type'
  | 'invalid_json_rpc'
  | 'log_line' // Output of a microcontroller between its frames: normal, and useful for diagnosis.
  | 'unknown_reply_id'
  | 'late_reply'
  | 'duplicate_reply'
  | 'device_request'
  | 'listing_incomplete'
  | 'mailbox_full'
  | 'callback_threw'; // A callback of the hub threw: a programming error that ends the session.

/** Callbacks of a session in order. They run inside the mailbox: no exceptions, no blocking. */
export interface SessionObserver {
  /**
   * The session entered a state. `closed` comes exactly once, with the reason, after all pending
   * calls were settled.
   */
  onStateChanged(state: SessionState, reason: CloseReason | undefined): void;
  /** The device answered the greeting, before `ready`. */
  onGreeted(info: DeviceInfo): void;
  /** A listing ended: first before `ready`, later after `refreshTools`. */
  onToolsDiscovered(discovered: DiscoveredTools): void;
  /**
   * A listing failed before its first page, as `message` explains. The session becomes ready with
   * the tools known from before.
   */
  onDiscoveryFailed(message: string): void;
  /** The device sent a JSON-RPC notification. */
  onNotification(method: string, params: unknown): void;
  /** The device sent an envelope message that is not MCP (hello, listen, abort, goodbye, …). */
  onDeviceMessage(type: string, message: Readonly<Record<string, unknown>>): void;
  /** The device answered a call that had ended UNKNOWN, within the time for late replies. */
  onLateOutcome(late: SettledCall): void;
  /**
   * The device loses requests over `largeRequestBytes` (`unanswered` in a row were lost), or
   * answered one again.
   */
  onLargeRequests(areLost: boolean, unanswered: number): void;
  onAnomaly(anomaly: SessionAnomaly, detail: string): void;
}

/**
 * Pages of `tools/list` by their text, shared by all sessions of a process, so that a known
 * firmware needs no parsing. The owner limits its size.
 */
export interface ToolPageCache {
  get(pageText: string): ToolPage | undefined;
  set(pageText: string, page: ToolPage): void;
}

/** Limits of one session; session-limits.ts gives each a unit and a reason. */
export interface SessionLimits {
  readonly mailboxInputsMax: number;
  readonly waitingCallsMax: number;
  readonly requestBytesMax: number;
  readonly largeRequestBytes: number;
  readonly largeRequestTrialMs: number;
  readonly toolPagesMax: number;
  readonly toolsMax: number;
  readonly greetingTimeoutMs: number;
  readonly listingTimeoutMs: number;
  readonly lateReplyMs: number;
}

/** A live session as its gateway holds it. */
export interface Session {
  readonly state: SessionState;
  /** Calls that wait or are in flight. */
  readonly pendingCalls: number;
  /**
   * Queues one call. `settle` runs exactly once, never inside `enqueue`; with NOT_SENT if the
   * session cannot accept it.
   */
  enqueue(call: SessionCall, settle: (settled: SettledCall) => void): void;
  /** Lists the tools again when no call is in flight. */
  refreshTools(): void;
  /** Sends an envelope message without an answer, such as an alert. False: nothing was accepted. */
  sendMessage(message: Readonly<Record<string, unknown>>): boolean;
  /** Settles all pending calls, then closes the transport. Idempotent. */
  close(reason: CloseReason): void;
}
