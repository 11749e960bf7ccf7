/** One try: a send, and what it led to. */
import { isSameValue } from '@flotilla/jobs';
import type { CallError } from '@flotilla/mcp';
import { decide, inSync, to } from './decide.js';
import { recentReverts, wouldRevert } from './drift.js';
import type { Decision, Entry, Facts, Wanted } from './entry.js';
import { firstWaitMs, jitter, triesMax } from './limits.js';

/**
 * READ: the value afterwards, which `facts` has. FAILED: the error; `isSent` false: nothing
 * reached the device.
 */
export type TryEnd =
  { readonly kind: 'READ' } | { readonly kind: 'FAILED'; readonly error: CallError; readonly isSent: boolean };

/** The entry as it is stored before its set is sent. */
export function startTry(wanted: Wanted, entry: Entry, now: number): Entry {
  const reverts = recentReverts(entry.reverts, now);
  return {
    ...to(entry, 'APPLYING', now),
    attempts: entry.attempts + 1,
    isSending: true,
    nextTryAt: undefined,
    reverts: wouldRevert(entry, wanted) ? [...reverts, now] : reverts,
  };
}

/** A set whose process died: it counts as sent, and its effect is read first. */
export function abandonTry(entry: Entry): Entry {
  return { ...entry, isSending: false };
}

/**
 * The entry after a try, and what follows. A block, a lost connection or another generation decides
 * before the result of the try. `chance`, from 0 to 1, spreads the tries.
 */
export function endTry(
  wanted: Wanted,
  entry: Entry,
  end: TryEnd,
  facts: Facts,
  { now, chance }: { readonly now: number; readonly chance: number },
): Decision {
  const isSent = end.kind === 'READ' || end.isSent;
  const idle = { ...entry, isSending: false, attempts: isSent ? entry.attempts : Math.max(0, entry.attempts - 1) };
  if (facts.block !== undefined || !facts.isOnline || wanted.generation !== entry.observedGeneration)
    return decide(wanted, idle, facts, now);
  const current = { ...idle, reported: facts.value?.value, reportedAt: facts.value?.at, edgeAt: facts.edgeAt };
  if (end.kind === 'READ' && facts.value !== undefined) {
    if (isSameValue(facts.value.value, wanted.desired, wanted.tolerance))
      return { entry: inSync(wanted, current, now), next: 'none' };
    return failed(current, readsOther, now, chance);
  }
  return failed(current, end.kind === 'FAILED' ? end.error : readsOther, now, chance);
}

/** A read that failed counts as a try: without it nothing can be compared. */
export function failRead(
  entry: Entry,
  { error, isSent }: Pick<Extract<TryEnd, { kind: 'FAILED' }>, 'error' | 'isSent'>,
  { now, chance }: { readonly now: number; readonly chance: number },
): Entry {
  return failed({ ...entry, attempts: entry.attempts + (isSent ? 1 : 0) }, error, now, chance).entry;
}

const readsOther: CallError = {
  code: 'READBACK_DIFFERS',
  message: 'The device accepted the call, but its value is still another one.',
};

function failed(entry: Entry, error: CallError, now: number, chance: number): Decision {
  const { attempts } = entry;
  if (attempts >= triesMax)
    return { entry: { ...to(entry, 'FAILED', now), error, nextTryAt: undefined }, next: 'none' };
  const nextTryAt = nextTryAfter(attempts, now, chance);
  return { entry: { ...to(entry, 'RETRYING', now), error, nextTryAt }, next: 'none' };
}

/** When the next try follows the one with the number `attempts`. `chance`: from 0 to 1. */
function nextTryAfter(attempts: number, now: number, chance: number): number {
  const waitMs = firstWaitMs * 2 ** (Math.max(1, attempts) - 1) * (1 + jitter * chance);
  return Math.round(now + waitMs);
}
