/** The calls of one session: one in flight, others in a bounded queue, each settled once. */
import { notSent } from '@flotilla/mcp';
import type { CallOutcome } from '@flotilla/mcp';
import { unknown } from './call-outcomes.js';
import { isLargeRequestRefused, largeRequestRefused, largeRequestCut, largeRequestSent } from './large-requests.js';
import { noWaitingCalls } from './machine-state.js';
import type { PendingCall, Turn } from './machine-state.js';
import { freeId, register, remember } from './request-ids.js';
import { utf8BytesExceed } from '../utf8-length.js';

export function takeCall(turn: Turn, pending: PendingCall): void {
  if (pending.call.isBackground !== true && turn.rules.dialect.isOneAtATime !== true) abandonBackgroundCall(turn);
  const { state, rules } = turn;
  if (state.phase === 'closing' || state.phase === 'closed') {
    settleCall(turn, pending, notSent('DEVICE_OFFLINE', 'The session has ended.'));
  } else if (isReadyToSend(turn)) {
    sendCall(turn, pending);
  } else if (pending.call.isBackground === true) {
    settleCall(turn, pending, notSent('OVERLOADED', 'The device was busy.'));
  } else if (state.waiting.length >= rules.limits.waitingCallsMax) {
    settleCall(
      turn,
      pending,
      notSent('OVERLOADED', `${rules.limits.waitingCallsMax} calls already wait for this device.`),
    );
  } else if (pending.call.queueDeadlineAt <= turn.now) {
    settleCall(turn, pending, deadlineMissed(turn));
  } else {
    turn.state = { ...state, waiting: [...state.waiting, pending] };
  }
}

/** Abandons a background call in flight for an ordinary call. Its answer counts as late. */
function abandonBackgroundCall(turn: Turn): void {
  const { inFlight } = turn.state;
  if (inFlight?.kind !== 'call' || inFlight.pending.call.isBackground !== true) return;
  remember(turn, inFlight);
  settleCall(
    turn,
    inFlight.pending,
    unknown('TIMEOUT', 'Another call took precedence before the device answered.'),
    inFlight.sentAt,
  );
}

/** Sends waiting calls until one is in flight, and settles those that can no longer be sent. */
export function sendWaitingCalls(turn: Turn): void {
  for (
    let pending = turn.state.waiting[0];
    pending !== undefined && isReadyToSend(turn);
    pending = turn.state.waiting[0]
  ) {
    const waiting = turn.state.waiting.length === 1 ? noWaitingCalls : turn.state.waiting.slice(1);
    turn.state = { ...turn.state, waiting };
    sendCall(turn, pending);
  }
}

/** Settles waiting calls whose queue deadline has passed. */
export function expireWaitingCalls(turn: Turn): void {
  const isExpired = ({ call }: PendingCall) => call.queueDeadlineAt <= turn.now;
  if (!turn.state.waiting.some(isExpired)) return;
  for (const pending of turn.state.waiting.filter(isExpired)) settleCall(turn, pending, deadlineMissed(turn));
  turn.state = { ...turn.state, waiting: turn.state.waiting.filter((pending) => !isExpired(pending)) };
}

/** Settles all calls: a sent call may have run, a waiting call certainly has not. */
export function settleAllCalls(turn: Turn): void {
  const { inFlight, waiting } = turn.state;
  turn.state = { ...turn.state, inFlight: undefined, waiting: noWaitingCalls };
  if (inFlight?.kind === 'call') {
    if (inFlight.isLarge) largeRequestCut(turn);
    settleCall(
      turn,
      inFlight.pending,
      unknown('SESSION_CLOSED', 'The session ended before the device answered.'),
      inFlight.sentAt,
    );
  }
  for (const pending of waiting)
    settleCall(turn, pending, notSent('DEVICE_OFFLINE', 'The session ended before the call was sent.'));
}

export function settleCall(turn: Turn, pending: PendingCall, outcome: CallOutcome, sentAt?: number): void {
  const { callId } = pending.call;
  const settledAt = turn.now;
  const settled = sentAt === undefined ? { callId, outcome, settledAt } : { callId, outcome, sentAt, settledAt };
  turn.effects.push({ kind: 'settle', settle: pending.settle, settled });
}

function isReadyToSend({ state }: Turn): boolean {
  return state.phase === 'ready' && state.inFlight === undefined;
}

function sendCall(turn: Turn, pending: PendingCall): void {
  const { rules, now } = turn;
  const { call } = pending;
  const deadlineAt = Math.min(now + call.callTimeoutMs, call.callDeadlineAt ?? Infinity);
  if (call.queueDeadlineAt <= now || deadlineAt <= now) return settleCall(turn, pending, deadlineMissed(turn));
  const id = freeId(turn.state, rules.dialect.requestIdMax);
  const encoded = rules.dialect.encodeCall(id, call.tool, call.arguments);
  if (typeof encoded !== 'string' && 'code' in encoded)
    return settleCall(turn, pending, notSent(encoded.code, encoded.message));
  const text = typeof encoded === 'string' ? encoded : encoded.text;
  const proof = typeof encoded === 'string' ? undefined : encoded.proof;
  const { largeRequestBytes, requestBytesMax } = rules.limits;
  if (utf8BytesExceed(text, requestBytesMax)) {
    return settleCall(
      turn,
      pending,
      notSent('REQUEST_TOO_LARGE', `The request is larger than ${requestBytesMax} bytes.`),
    );
  }
  const isTextLarge = utf8BytesExceed(text, largeRequestBytes);
  if (isTextLarge && isLargeRequestRefused(turn.state, now))
    return settleCall(turn, pending, largeRequestRefused(rules));
  // An answer to the proof does not show that the text arrived.
  const isLarge = isTextLarge && proof === undefined;
  if (isLarge) largeRequestSent(turn);
  register(turn, { kind: 'call', id, sentAt: now, deadlineAt, pending, isLarge });
  turn.effects.push(proof === undefined ? { kind: 'send', id, text } : { kind: 'send', id, text, proof });
}

/** The time was lost to other calls (overloaded), or before the session was ready (offline). */
function deadlineMissed({ state }: Turn): CallOutcome {
  return state.phase === 'ready'
    ? notSent('OVERLOADED', 'The time to send the call passed while other calls were ahead of it.')
    : notSent('DEVICE_OFFLINE', 'The time to send the call passed before the session was ready.');
}
