/**
 * Recognises a device that loses large requests. Its MQTT client keeps the first part of a message
 * that a lost connection cut, and joins it with the next large message. Small requests work, large
 * ones are lost, until the client is rebuilt. [xiaozhi §9, 24]
 */
import { notSent } from '@flotilla/mcp';
import type { CallOutcome } from '@flotilla/mcp';
import { unknown } from './call-outcomes.js';
import { noLargeRequests } from './machine-state.js';
import type { LargeRequests, MachineState, SessionRules, Turn } from './machine-state.js';

/** A single lost message may be a coincidence. */
const unansweredMin = 2;

const advice = 'Small requests are answered. Restart the device, for example with self.reboot, then call again.';

export function isLargeRequestRefused({ largeRequests: { trialAt } }: MachineState, now: number): boolean {
  return trialAt !== undefined && now < trialAt;
}

export function largeRequestRefused({ limits }: SessionRules): CallOutcome {
  return notSent(
    'LARGE_MESSAGES_LOST',
    `Nothing was sent: since a message to the device was cut, it loses every request over ` +
      `${limits.largeRequestBytes} bytes. ${advice}`,
  );
}

/** A trial is one request; the next trial is scheduled later. */
export function largeRequestSent(turn: Turn): void {
  const { largeRequests } = turn.state;
  if (largeRequests.trialAt !== undefined) put(turn, { ...largeRequests, trialAt: nextTrialAt(turn) });
}

/** An answer to a large request clears the suspicion; an answer to a small one confirms it. */
export function requestAnswered(turn: Turn, isLarge: boolean): void {
  const { largeRequests: before } = turn.state;
  if (before.unanswered === 0) return;
  if (isLarge) {
    put(turn, noLargeRequests);
    if (before.trialAt !== undefined)
      turn.effects.push({ kind: 'largeRequests', areLost: false, unanswered: before.unanswered });
  } else if (!before.isAlive) {
    judge(turn, { ...before, isAlive: true });
  }
}

/** Records that a large request timed out. */
export function largeRequestUnanswered(turn: Turn): void {
  const { largeRequests: before } = turn.state;
  judge(turn, { ...before, unanswered: before.unanswered + 1 });
}

/** Records that the session ended with a large request in flight, which may be the cut one. */
export function largeRequestCut(turn: Turn): void {
  const { largeRequests: before } = turn.state;
  put(turn, { ...before, unanswered: before.unanswered + 1, isAlive: false });
}

/** The outcome of a large request that timed out, if the fault is recognised. */
export function largeRequestTimedOut({ state, rules }: Turn, waitedMs: number): CallOutcome | undefined {
  if (state.largeRequests.trialAt === undefined) return undefined;
  const { largeRequestBytes } = rules.limits;
  const message =
    `The device did not answer within ${waitedMs} ms. ` +
    `It loses requests over ${largeRequestBytes} bytes. ${advice}`;
  return unknown('LARGE_MESSAGES_LOST', message);
}

function judge(turn: Turn, next: LargeRequests): void {
  const isNew = next.trialAt === undefined && next.isAlive && next.unanswered >= unansweredMin;
  put(turn, isNew ? { ...next, trialAt: nextTrialAt(turn) } : next);
  if (isNew) turn.effects.push({ kind: 'largeRequests', areLost: true, unanswered: next.unanswered });
}

function nextTrialAt({ now, rules }: Turn): number {
  return now + rules.limits.largeRequestTrialMs;
}

function put(turn: Turn, largeRequests: LargeRequests): void {
  turn.state = { ...turn.state, largeRequests };
}
