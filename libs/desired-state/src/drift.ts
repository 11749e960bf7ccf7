/** What happens to a value that was in sync and was changed by others. */
import type { Entry, Wanted } from './entry.js';
import { revertsMax, revertWindowMs } from './limits.js';

/** HELD: until `until`. ACCEPTED: until an edit, or the window opens or closes. */
export type DriftStep = { readonly kind: 'REVERT' | 'ACCEPTED' } | { readonly kind: 'HELD'; readonly until: number };

/** Whether the next send would undo such a change. */
export function wouldRevert({ attempts, syncedGeneration }: Entry, { generation }: Wanted): boolean {
  return attempts === 0 && syncedGeneration === generation;
}

/** The entry is in sync, and the value differs. */
export function stepOfDrift(entry: Entry, { holdSeconds, onDrift }: Wanted, now: number): DriftStep {
  if (onDrift === 'ACCEPT') return { kind: 'ACCEPTED' };
  if (onDrift === 'HOLD' && holdSeconds > 0) return { kind: 'HELD', until: now + holdSeconds * 1_000 };
  return stepOfRevert(entry, now);
}

/** Five in an hour are the most, also after each hold. */
export function stepOfRevert({ reverts }: Entry, now: number): DriftStep {
  const recent = recentReverts(reverts, now);
  const [first] = recent;
  return first === undefined || recent.length < revertsMax
    ? { kind: 'REVERT' }
    : { kind: 'HELD', until: first + revertWindowMs };
}

export function recentReverts(reverts: readonly number[], now: number): readonly number[] {
  return reverts.filter((at) => at > now - revertWindowMs);
}
