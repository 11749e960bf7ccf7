/** What a session knows at one moment, as data, and the deadlines that follow from it. */
import type { DeviceError, Dialect } from '../dialect.js';
import type { SessionCall, SessionLimits, SessionState } from '../session-contract.js';
import { noLargeRequests, type LargeRequests } from './large-requests.js';
import type { SessionEffect, Settle } from './session-input.js';
import type { ToolWalk } from './listing/tool-page-reader.js';

export interface PendingCall {
  readonly call: SessionCall;
  readonly settle: Settle;
}

/** The one request that the device has not answered yet. */
export type InFlight = {
  readonly id: number;
  readonly sentAt: number;
  readonly deadlineAt: number;
  /** The device said that it could not read the request; the deadline is then the time in which it says so again for the rest of the pieces. */
  readonly unread?: DeviceError;
} & (
  | { readonly kind: 'greeting'; readonly isRetry: boolean }
  | { readonly kind: 'page'; readonly walk: ToolWalk }
  | { readonly kind: 'call'; readonly pending: PendingCall; readonly isLarge: boolean }
);

/** A request whose time ran out; `call` where it was one that somebody may still want to hear of. */
export interface RememberedRequest {
  readonly call: Pick<SessionCall, 'callId' | 'tool'> | undefined;
  readonly isLarge: boolean;
  readonly sentAt: number;
  readonly forgetAt: number;
}

export interface MachineState {
  readonly phase: SessionState;
  readonly nextId: number;
  /** Ids given out so far: tells a second answer from one to a question that nobody asked. */
  readonly issuedIds: number;
  readonly inFlight: InFlight | undefined;
  readonly waiting: readonly PendingCall[];
  /** In the order in which they will be forgotten. */
  readonly remembered: ReadonlyMap<number, RememberedRequest>;
  readonly isRefreshWanted: boolean;
  readonly largeRequests: LargeRequests;
}

/** What does not change during a session. */
export interface SessionRules {
  readonly dialect: Dialect;
  readonly limits: SessionLimits;
}

/** One step in the making: transitions replace `state` and append effects, in the order in which they are to happen. */
export interface Turn {
  readonly rules: SessionRules;
  readonly now: number;
  state: MachineState;
  readonly effects: SessionEffect[];
}

/** Shared by all sessions: most never have any. */
export const noneWaiting: readonly PendingCall[] = [];
export const noneRemembered: ReadonlyMap<number, RememberedRequest> = new Map();

export function initialState(firstRequestId: number, largeRequests: LargeRequests = noLargeRequests): MachineState {
  return {
    phase: 'connecting',
    nextId: firstRequestId,
    issuedIds: 0,
    inFlight: undefined,
    waiting: noneWaiting,
    remembered: noneRemembered,
    isRefreshWanted: false,
    largeRequests,
  };
}

/** When the next deadline passes; Infinity without one. Forgetting needs no timer: it is done when somebody looks. */
export function nextWakeAt(state: MachineState): number {
  let wakeAt = state.inFlight?.deadlineAt ?? Infinity;
  for (const { call } of state.waiting) wakeAt = Math.min(wakeAt, call.queueDeadlineAt);
  return wakeAt;
}
