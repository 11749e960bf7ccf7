/** The state of a session as data, and the deadlines that follow from it. */
import type { DeviceError, Dialect } from '../dialect.js';
import type { SessionCall, SessionLimits, SessionState } from '../session-contract.js';
import type { SessionEffect, Settle } from './session-input.js';
import type { ListingProgress } from './listing/tool-page-reader.js';

export interface PendingCall {
  readonly call: SessionCall;
  readonly settle: Settle;
}

/** The one request that the device has not answered yet. */
export type InFlight = {
  readonly id: number;
  readonly sentAt: number;
  readonly deadlineAt: number;
  /**
   * The device could not read the request. The deadline then bounds the time for the errors of the
   * remaining parts.
   */
  readonly unread?: DeviceError;
} & (
  | { readonly kind: 'greeting'; readonly isRetry: boolean }
  | { readonly kind: 'page'; readonly listing: ListingProgress }
  | { readonly kind: 'call'; readonly pending: PendingCall; readonly isLarge: boolean }
);

/** A timed-out request; `call` is set if a late answer is still of interest. */
export interface RememberedRequest {
  readonly call: Pick<SessionCall, 'callId' | 'tool'> | undefined;
  readonly isLarge: boolean;
  readonly sentAt: number;
  readonly forgetAt: number;
}

/** The state of a device's large requests. It outlives a session that lost its connection. */
export interface LargeRequests {
  /** Consecutive large requests that the device did not answer. */
  readonly unanswered: number;
  /** The device has answered a small request since then, so the size is the likely reason. */
  readonly isAlive: boolean;
  /**
   * When the next large request may be sent as a trial, ms since the Unix epoch. Undefined: no
   * fault recognised.
   */
  readonly trialAt: number | undefined;
}

export const noLargeRequests: LargeRequests = { unanswered: 0, isAlive: false, trialAt: undefined };

export interface MachineState {
  readonly phase: SessionState;
  readonly nextId: number;
  /** Ids used so far; distinguishes a duplicate answer from one with an unknown id. */
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

/** One step under construction: transitions replace `state` and append effects in order. */
export interface Turn {
  readonly rules: SessionRules;
  readonly now: number;
  state: MachineState;
  readonly effects: SessionEffect[];
}

/** Shared by all sessions, most of which never have any. */
export const noWaitingCalls: readonly PendingCall[] = [];
export const noRememberedRequests: ReadonlyMap<number, RememberedRequest> = new Map();

export function initialState(firstRequestId: number, largeRequests: LargeRequests = noLargeRequests): MachineState {
  return {
    phase: 'connecting',
    nextId: firstRequestId,
    issuedIds: 0,
    inFlight: undefined,
    waiting: noWaitingCalls,
    remembered: noRememberedRequests,
    isRefreshWanted: false,
    largeRequests,
  };
}

/**
 * When the next deadline passes; Infinity without one. Remembered requests need no timer: a later
 * lookup removes them.
 */
export function nextWakeAt(state: MachineState): number {
  let wakeAt = state.inFlight?.deadlineAt ?? Infinity;
  for (const { call } of state.waiting) wakeAt = Math.min(wakeAt, call.queueDeadlineAt);
  return wakeAt;
}
