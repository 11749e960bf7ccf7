/** The greeting: sent once, repeated once without a valid answer, then the session ends. */
import { startListing } from './listing/listing.js';
import type { Turn } from './machine-state.js';
import { freeId, register } from './request-ids.js';
import { endSession, enterPhase } from './session-phases.js';

export function startGreeting(turn: Turn): void {
  enterPhase(turn, 'greeting');
  sendGreeting(turn, false);
}

export function greetingAnswered(turn: Turn, result: unknown): void {
  const { dialect } = turn.rules;
  turn.effects.push({ kind: 'greeted', info: dialect.readGreeting(result) });
  const text = dialect.encodeGreeted();
  if (text !== undefined) turn.effects.push({ kind: 'send', id: undefined, text });
  enterPhase(turn, 'discovering');
  startListing(turn);
}

/**
 * The first greeting may be lost with a broken connection. A device that ignores two does not speak
 * this dialect.
 */
export function greetingFailed(turn: Turn, wasRetry: boolean): void {
  if (wasRetry) endSession(turn, 'greeting_failed', 'open');
  else sendGreeting(turn, true);
}

function sendGreeting(turn: Turn, isRetry: boolean): void {
  const { dialect, limits } = turn.rules;
  const id = freeId(turn.state, dialect.requestIdMax);
  register(turn, { kind: 'greeting', id, sentAt: turn.now, deadlineAt: turn.now + limits.greetingTimeoutMs, isRetry });
  turn.effects.push({ kind: 'send', id, text: dialect.encodeGreeting(id) });
}
