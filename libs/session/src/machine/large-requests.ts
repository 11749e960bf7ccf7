/**
 * Recognises a device that loses large requests. The MQTT client of the firmware keeps the first part of a message
 * that a lost link cut, and glues the next large message to it: small requests work, large ones vanish, until the
 * client is rebuilt. [xiaozhi §9, 24]
 */
import type { CallOutcome } from '@flotilla/mcp';
import { notSent, unknown } from './call-outcomes.js';
import type { MachineState, SessionRules, Turn } from './machine-state.js';

/** What the session knows of the device's large requests. It outlives a session where the link was lost. */
export interface LargeRequests {
  /** Large requests in a row that the device did not answer. */
  readonly unanswered: number;
  /** The device answered a small request since the first of them, so their size is the likely reason. */
  readonly isAlive: boolean;
  /** When one large request may be sent as a trial, ms since the Unix epoch. Undefined: the fault is not recognised. */
  readonly trialAt: number | undefined;
}

export const noLargeRequests: LargeRequests = { unanswered: 0, isAlive: false, trialAt: undefined };

/** One lost message may be chance. */
const unansweredMin = 2;

const advice = 'Small requests are answered. Restart the device, for example with self.reboot, then call again.';

export function isLargeRequestRefused({ largeRequests: { trialAt } }: MachineState, now: number): boolean {
  return trialAt !== undefined && now < trialAt;
}

export function largeRequestRefused({ limits }: SessionRules): CallOutcome {
  return notSent(
    'LARGE_MESSAGES_LOST',
    `Nothing was sent: the device loses every request over ${limits.largeRequestBytes} bytes since a message to it was cut. ${advice}`,
  );
}

/** A trial is one request: the next one waits for its own time. */
export function largeRequestSent(turn: Turn): void {
  const { largeRequests } = turn.state;
  if (largeRequests.trialAt !== undefined) put(turn, { ...largeRequests, trialAt: nextTrialAt(turn) });
}

/** Any answer of the device: one to a large request ends the suspicion, one to a small request confirms it. */
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

/** A large request timed out. */
export function largeRequestUnanswered(turn: Turn): void {
  const { largeRequests: before } = turn.state;
  judge(turn, { ...before, unanswered: before.unanswered + 1 });
}

/** The session ended with a large request in flight, which may be the cut one. The next session shows whether the device is there. */
export function largeRequestCut(turn: Turn): void {
  const { largeRequests: before } = turn.state;
  put(turn, { ...before, unanswered: before.unanswered + 1, isAlive: false });
}

/** How a large request that timed out ends. */
export function largeRequestTimedOut({ state, rules }: Turn, waitedMs: number): CallOutcome | undefined {
  if (state.largeRequests.trialAt === undefined) return undefined;
  const { largeRequestBytes } = rules.limits;
  const message = `The device did not answer within ${waitedMs} ms, and loses requests over ${largeRequestBytes} bytes. ${advice}`;
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
