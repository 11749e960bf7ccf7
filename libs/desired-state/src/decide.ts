/**
 * Compares what a desired state wants of a device with what is, and says what follows. It looks at
 * the present only, so a repeated or late look does no harm. The first that applies decides: a set
 * under way, a block, a roll-out that has not reached the device, no connection, an old value, an
 * equal one, REPORT. What is left is a drift or a retry.
 */
import { isSameValue } from '@flotilla/jobs';
import { recentReverts, stepOfDrift, stepOfRevert, wouldRevert } from './drift.js';
import type { DriftStep } from './drift.js';
import type { BlockedState, Decision, Entry, Facts, KnownValue, Wanted } from './entry.js';
import { freshMs } from './limits.js';

const blockedStates: ReadonlySet<string> = new Set<BlockedState>([
  'CONFLICT',
  'UNSUPPORTED',
  'OVERRIDDEN',
  'OUT_OF_WINDOW',
]);

/** `former`: undefined for a device that has just been covered. */
export function decide(wanted: Wanted, former: Entry | undefined, facts: Facts, now: number): Decision {
  // The end of a set decides again. Until then nothing else is sent.
  if (former?.isSending === true) return { entry: former, next: 'none' };
  const entry = { ...begun(wanted, former, now), edgeAt: facts.edgeAt };
  if (facts.block !== undefined) return blocked(wanted, entry, facts.block, now);
  if (wanted.generation === 0) return rest(to(entry, 'APPLYING', now));
  const known = facts.value;
  const isEqual = known !== undefined && isSameValue(known.value, wanted.desired, wanted.tolerance);
  const current = known === undefined ? entry : { ...entry, reported: known.value, reportedAt: known.at };
  if (!facts.isOnline) return rest(isEqual ? lastKnownInSync(current, now) : away(wanted, current, known, now));
  if (known === undefined || known.at < facts.freshSince) return toRead(wanted, current, isEqual, now);
  if (isEqual) return rest(inSync(wanted, current, now));
  if (wanted.mode === 'REPORT') return rest({ ...to(current, 'DRIFTED', now), nextTryAt: undefined });
  return differing(wanted, current, { ...facts, value: known }, now);
}

/** States that say nothing about a former try or drift. */
const kept: ReadonlySet<string> = new Set(['IN_SYNC', 'APPLYING', 'WAITING_DEVICE']);

/** The device is in sync, as it has just reported. */
export function inSync({ generation }: Wanted, entry: Entry, now: number): Entry {
  return {
    ...to(entry, 'IN_SYNC', now),
    syncedGeneration: generation,
    attempts: 0,
    nextTryAt: undefined,
    error: undefined,
    reverts: recentReverts(entry.reverts, now),
  };
}

export function to(entry: Entry, state: Entry['state'], now: number): Entry {
  return entry.state === state ? entry : { ...entry, state, since: now };
}

/** A new device, a new generation, or the end of a block: what was before is forgotten. */
function begun(wanted: Wanted, former: Entry | undefined, now: number): Entry {
  const { generation: observedGeneration } = wanted;
  const isNew = former === undefined || former.observedGeneration !== observedGeneration;
  if (!isNew && !blockedStates.has(former.state)) return former;
  const isKept = former !== undefined && (blockedStates.has(former.state) || kept.has(former.state));
  const { state, since } = isKept ? former : { state: 'APPLYING' as const, since: now };
  return {
    state,
    since,
    observedGeneration,
    syncedGeneration: 0,
    reported: former?.reported,
    reportedAt: former?.reportedAt,
    attempts: 0,
    nextTryAt: undefined,
    edgeAt: undefined,
    reverts: [],
    error: undefined,
    blockedBy: [],
    isSending: false,
  };
}

function blocked(
  { generation }: Wanted,
  entry: Entry,
  { state, by, error }: NonNullable<Facts['block']>,
  now: number,
): Decision {
  return rest({
    ...to(entry, state, now),
    observedGeneration: generation,
    syncedGeneration: 0,
    attempts: 0,
    nextTryAt: undefined,
    reverts: [],
    error,
    blockedBy: by,
  });
}

/** A device that is away counts by its last value, but its next session compares it. */
function lastKnownInSync(entry: Entry, now: number): Entry {
  return { ...to(entry, 'IN_SYNC', now), nextTryAt: undefined, error: undefined };
}

function away(wanted: Wanted, entry: Entry, known: KnownValue | undefined, now: number): Entry {
  const isLeft =
    (entry.state === 'HELD' && (entry.nextTryAt ?? -Infinity) > now) ||
    isAccepted(wanted, entry) ||
    isShown(wanted, entry);
  if (isLeft) return entry.state === 'HELD' ? entry : { ...to(entry, 'DRIFTED', now), nextTryAt: undefined };
  // A change that is seen too late for the session: after the return it would look like a retry.
  const isDrift = known !== undefined && entry.state === 'IN_SYNC';
  const left = isDrift ? leftAlone(driftStep(wanted, entry, now), entry, now) : undefined;
  return left ?? { ...to(entry, 'WAITING_DEVICE', now), nextTryAt: undefined };
}

function isAccepted({ generation, onDrift }: Wanted, { state, syncedGeneration }: Entry): boolean {
  return state === 'DRIFTED' && onDrift === 'ACCEPT' && syncedGeneration === generation;
}

/** With REPORT, a known value that differs is a drift, wherever the device is. */
function isShown({ mode }: Wanted, { reportedAt }: Entry): boolean {
  return mode === 'REPORT' && reportedAt !== undefined;
}

/** While the value is read, an entry that stood still keeps its state. */
function toRead(wanted: Wanted, entry: Entry, isEqual: boolean, now: number): Decision {
  const isStarted = entry.syncedGeneration > 0 || entry.attempts > 0 || entry.nextTryAt !== undefined;
  if (isStarted && entry.state !== 'WAITING_DEVICE') return { entry, next: 'read' };
  if (isEqual) return { entry: { ...to(entry, 'IN_SYNC', now), nextTryAt: undefined }, next: 'read' };
  const state = isShown(wanted, entry) ? 'DRIFTED' : 'APPLYING';
  return { entry: { ...to(entry, state, now), nextTryAt: undefined }, next: 'read' };
}

/** The value of an online device differs, and may be set. */
function differing(
  wanted: Wanted,
  entry: Entry,
  { cause, value }: Pick<Facts, 'cause'> & { readonly value: NonNullable<Facts['value']> },
  now: number,
): Decision {
  const isDue = (entry.nextTryAt ?? -Infinity) <= now;
  if (entry.state === 'HELD' && !isDue) return rest(entry);
  if (entry.state === 'RETRYING' && !isDue && cause !== 'READY') return rest(entry);
  if (entry.state === 'FAILED' && cause === 'CHANGE') return rest(entry);
  if (isAccepted(wanted, entry)) return rest(entry);
  const tried = cause === 'READY' ? { ...entry, attempts: 0 } : entry;
  const left = leftAlone(driftStep(wanted, tried, now), tried, now);
  if (left !== undefined) return rest(left);
  if (value.at < now - freshMs) return { entry: tried, next: 'read' };
  return { entry: { ...to(tried, 'APPLYING', now), nextTryAt: undefined }, next: 'set' };
}

/** Undefined for a drift that has to be reverted. */
function leftAlone(step: DriftStep, entry: Entry, now: number): Entry | undefined {
  if (step.kind === 'ACCEPTED') return { ...to(entry, 'DRIFTED', now), nextTryAt: undefined };
  if (step.kind === 'HELD') return { ...to(entry, 'HELD', now), nextTryAt: step.until };
  return undefined;
}

function driftStep(wanted: Wanted, entry: Entry, now: number): DriftStep {
  if (!wouldRevert(entry, wanted)) return { kind: 'REVERT' };
  return entry.state === 'IN_SYNC' ? stepOfDrift(entry, wanted, now) : stepOfRevert(entry, now);
}

function rest(entry: Entry): Decision {
  return { entry, next: 'none' };
}
