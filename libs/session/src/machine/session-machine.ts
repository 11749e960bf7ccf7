/**
 * The decisions of a session: a function from state and input to state and effects. The caller
 * carries out all effects in order before the next input. It does not know the wire format; the
 * dialect in the rules does.
 */
import { notSent } from '@flotilla/mcp';
import { unknown } from './call-outcomes.js';
import { expireWaitingCalls, sendWaitingCalls, settleCall, takeCall } from './call-queue.js';
import { greetingFailed, startGreeting } from './greeting.js';
import { takeAnswer, takeMessage } from './incoming-message.js';
import { largeRequestTimedOut, largeRequestUnanswered } from './large-requests.js';
import { pageFailed, pageReceived, startListing } from './listing/listing.js';
import type { InFlight, MachineState, SessionRules, Turn } from './machine-state.js';
import { remember } from './request-ids.js';
import type { SessionEffect, SessionInput } from './session-input.js';
import { endSession, reportAnomaly } from './session-phases.js';

interface SessionStep {
  readonly state: MachineState;
  readonly effects: readonly SessionEffect[];
}

export function step(rules: SessionRules, state: MachineState, input: SessionInput): SessionStep {
  const turn: Turn = { rules, now: input.now, state, effects: [] };
  // After the end only calls are answered.
  if (state.phase !== 'closed' || input.kind === 'call') {
    applyInput(turn, input);
    startNextRequest(turn);
  }
  return { state: turn.state, effects: turn.effects };
}

function applyInput(turn: Turn, input: SessionInput): void {
  switch (input.kind) {
    case 'start':
      return turn.state.phase === 'connecting' ? startGreeting(turn) : undefined;
    case 'message':
      return takeMessage(turn, input.message);
    case 'page':
      return takeKnownPage(turn, input);
    case 'call':
      return takeCall(turn, input);
    case 'refresh':
      turn.state = { ...turn.state, isRefreshWanted: true };
      return;
    case 'wake':
      return expireRequest(turn);
    case 'sendFailed':
      return takeSendFailure(turn, input.id);
    case 'transportClosed':
      return endSession(turn, input.reason, 'ended');
    case 'close':
      return endSession(turn, input.reason, 'open');
  }
}

/**
 * Starts what is due when no request is in flight. A listing precedes waiting calls, or a busy
 * device would never list.
 */
function startNextRequest(turn: Turn): void {
  if (turn.state.phase !== 'ready' || turn.state.inFlight !== undefined) return;
  if (turn.state.isRefreshWanted) startListing(turn);
  else sendWaitingCalls(turn);
}

function takeKnownPage(turn: Turn, { id, page }: Extract<SessionInput, { kind: 'page' }>): void {
  const { inFlight } = turn.state;
  if (inFlight?.kind !== 'page' || inFlight.id !== id) return reportAnomaly(turn, 'unknown_reply_id', `id ${id}`);
  turn.state = { ...turn.state, inFlight: undefined };
  pageReceived(turn, inFlight.listing, page);
}

function expireRequest(turn: Turn): void {
  const { inFlight } = turn.state;
  if (inFlight?.unread !== undefined && inFlight.deadlineAt <= turn.now) {
    takeAnswer(turn, inFlight.id, { kind: 'error', id: inFlight.id, error: inFlight.unread });
  } else if (inFlight !== undefined && inFlight.deadlineAt <= turn.now) {
    remember(turn, inFlight);
    const waitedMs = turn.now - inFlight.sentAt;
    switch (inFlight.kind) {
      case 'call':
        callTimedOut(turn, inFlight, waitedMs);
        break;
      case 'greeting':
        greetingFailed(turn, inFlight.isRetry);
        break;
      case 'page':
        pageFailed(turn, inFlight.listing, `The device did not answer the listing within ${waitedMs} ms.`);
    }
  }
  expireWaitingCalls(turn);
}

function callTimedOut(
  turn: Turn,
  { isLarge, pending, sentAt }: Extract<InFlight, { kind: 'call' }>,
  waitedMs: number,
): void {
  if (isLarge) largeRequestUnanswered(turn);
  const lost = isLarge ? largeRequestTimedOut(turn, waitedMs) : undefined;
  settleCall(turn, pending, lost ?? unknown('TIMEOUT', `The device did not answer within ${waitedMs} ms.`), sentAt);
}

/** Only a call ends this way. An unsent greeting or page is repeated at its deadline. */
function takeSendFailure(turn: Turn, id: number): void {
  const { inFlight } = turn.state;
  if (inFlight?.kind !== 'call' || inFlight.id !== id) return;
  turn.state = { ...turn.state, inFlight: undefined };
  settleCall(turn, inFlight.pending, notSent('DEVICE_OFFLINE', 'The connection accepted no more data.'));
}
