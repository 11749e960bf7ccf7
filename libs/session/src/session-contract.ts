/** What the outside gives a session and gets from it. The actor behind it is session-actor.ts; its decisions are session-machine.ts. */
import type { CallId, CallOutcome, CloseReason, DeviceInfo, DiscoveredTools, ToolPage } from '@flotilla/mcp';

/** connecting: the transport is being set up. greeting: who are you. discovering: what can you do. ready: calls flow. */
export type SessionState = 'connecting' | 'greeting' | 'discovering' | 'ready' | 'closing' | 'closed';

/** Arguments of a call, already validated against the tool's schema: plain data, sent as they are. */
export type CallArguments = Readonly<Record<string, unknown>>;

/** One tool call as a session takes it. */
export interface SessionCall {
  readonly callId: CallId;
  readonly tool: string;
  readonly arguments: CallArguments;
  /** Absolute, ms since the Unix epoch: not handed to the socket by then, it ends NOT_SENT. */
  readonly queueDeadlineAt: number;
  /** Time for the answer from the moment the bytes are handed to the socket. */
  readonly callTimeoutMs: number;
  /** Absolute bound on the answer in addition to `callTimeoutMs`; a single call has one, a job's target has none. */
  readonly callDeadlineAt?: number;
  /** Nobody waits for it: it is sent only to a device with nothing else to do, and gives way to the next call. */
  readonly isBackground?: boolean;
}

/** A settled call. `sentAt` is absent where nothing was sent; times are ms since the Unix epoch. */
export interface SettledCall {
  readonly callId: CallId;
  readonly outcome: CallOutcome;
  readonly sentAt?: number;
  readonly settledAt: number;
}

/** Strange things that devices do. Counted and visible, never fatal. */
export type SessionAnomaly =
  | 'unparseable_message'
  | 'invalid_envelope'
  | 'unknown_message_type'
  | 'invalid_json_rpc'
  | 'log_line' // What a microcontroller prints beside its frames: ordinary, and a clue when one goes wrong.
  | 'unknown_reply_id'
  | 'late_reply'
  | 'duplicate_reply'
  | 'device_request'
  | 'listing_incomplete'
  | 'mailbox_full'
  | 'callback_threw'; // A callback of ours threw: a programmer's error, and the session closes.

/** Callbacks of a session, in the order of its life. They run inside the mailbox: they must not throw and must not block. */
export interface SessionObserver {
  /** A state was entered. `closed` comes exactly once, with the reason, after every pending call was settled. */
  onStateChanged(state: SessionState, reason: CloseReason | undefined): void;
  /** The greeting was answered, before `ready`. */
  onGreeted(info: DeviceInfo): void;
  /** A listing ended: at first before `ready`, later after `refreshTools`. */
  onToolsDiscovered(discovered: DiscoveredTools): void;
  /** A listing, the first or a later one, failed before its first page; `message` says how. The session is ready all the same, with the tools known from before. */
  onDiscoveryFailed(message: string): void;
  /** A JSON-RPC notification from the device, unasked. */
  onNotification(method: string, params: unknown): void;
  /** A message of the envelope that is not MCP (hello, listen, abort, goodbye, ...), parsed. */
  onDeviceMessage(type: string, message: Readonly<Record<string, unknown>>): void;
  /** The answer of a call that had already ended UNKNOWN by its deadline, within the 15 minutes that its id is remembered. */
  onLateOutcome(late: SettledCall): void;
  /** The device loses requests over `largeRequestBytes`, of which `unanswered` in a row were lost; or it answered one again. */
  onLargeRequests(areLost: boolean, unanswered: number): void;
  onAnomaly(anomaly: SessionAnomaly, detail: string): void;
}

/** Pages of `tools/list` by their text, shared by all sessions of a process, so that a known firmware costs no parsing. Bounded by its owner. */
export interface ToolPageCache {
  recall(pageText: string): ToolPage | undefined;
  remember(pageText: string, page: ToolPage): void;
}

/** Bounds of one session; each has a name, a unit and a reason in session-limits.ts. */
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
  /** Calls waiting or in flight. */
  readonly pendingCalls: number;
  /** Queues one call. `settle` runs exactly once, never inside `call`; with NOT_SENT when the session cannot take it. */
  call(call: SessionCall, settle: (settled: SettledCall) => void): void;
  /** Lists the tools again when no call is in flight. */
  refreshTools(): void;
  /** Sends an envelope message that expects no answer, e.g. an alert. False when nothing was accepted. */
  sendMessage(message: Readonly<Record<string, unknown>>): boolean;
  /** Settles every pending call, then closes the transport. Idempotent. */
  close(reason: CloseReason): void;
}
