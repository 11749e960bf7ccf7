/** Entries, wanted values and facts for specs. */
import type { Entry, Facts, Wanted } from './entry.js';

export const NOW = Date.parse('2026-06-10T12:00:00Z');

export function wantedOf(change: Partial<Wanted> = {}): Wanted {
  return {
    id: 'a',
    generation: 1,
    desired: 30,
    tolerance: 0,
    mode: 'ENFORCE',
    onDrift: 'HOLD',
    holdSeconds: 1_800,
    priority: 0,
    window: undefined,
    ...change,
  };
}

export function entryOf(change: Partial<Entry> = {}): Entry {
  return {
    state: 'IN_SYNC',
    since: NOW - 60_000,
    observedGeneration: 1,
    syncedGeneration: 1,
    reported: 30,
    reportedAt: NOW - 60_000,
    attempts: 0,
    nextTryAt: undefined,
    edgeAt: undefined,
    reverts: [],
    error: undefined,
    blockedBy: [],
    isSending: false,
    ...change,
  };
}

/** A device that has just reported the value. */
export function factsOf(value: unknown, change: Partial<Facts> = {}): Facts {
  return {
    isOnline: true,
    value: { value, at: NOW },
    freshSince: -Infinity,
    block: undefined,
    edgeAt: undefined,
    cause: 'CHANGE',
    ...change,
  };
}
