/** One desired state on one device: what is wanted, what is known, and where it stands. */
import type { CallError } from '@flotilla/mcp';
import type { DesiredWindow } from './desired-window.js';

export type DesiredStateMode = 'ENFORCE' | 'REPORT';
export type DriftAction = 'REVERT' | 'HOLD' | 'ACCEPT';
export type BlockedState = 'CONFLICT' | 'UNSUPPORTED' | 'OVERRIDDEN' | 'OUT_OF_WINDOW';
export type ComplianceState =
  'IN_SYNC' | 'APPLYING' | 'RETRYING' | 'WAITING_DEVICE' | 'DRIFTED' | 'HELD' | 'FAILED' | BlockedState;

export const complianceStates: readonly ComplianceState[] = [
  'IN_SYNC',
  'APPLYING',
  'RETRYING',
  'WAITING_DEVICE',
  'DRIFTED',
  'HELD',
  'CONFLICT',
  'UNSUPPORTED',
  'OVERRIDDEN',
  'OUT_OF_WINDOW',
  'FAILED',
];

/** The states in which a device differs from a desired state that applies to it. */
export const outOfSyncStates: readonly ComplianceState[] = [
  'APPLYING',
  'RETRYING',
  'WAITING_DEVICE',
  'DRIFTED',
  'HELD',
  'CONFLICT',
  'FAILED',
];

/** What a desired state wants of a device, in the generation that has reached the device. */
export interface Wanted {
  readonly id: string;
  /** From 1 on; 0 while a roll-out of the first one has not reached the device. */
  readonly generation: number;
  readonly desired: unknown;
  /** A difference of numbers up to this counts as equal. */
  readonly tolerance: number;
  readonly mode: DesiredStateMode;
  readonly onDrift: DriftAction;
  readonly holdSeconds: number;
  readonly priority: number;
  readonly window: DesiredWindow | undefined;
}

/** A value that the device has reported, at this time (ms since the Unix epoch). */
export interface KnownValue {
  readonly value: unknown;
  readonly at: number;
}

/** Why a desired state does not apply. `by`: the others that are in its way. */
export interface Block {
  readonly state: BlockedState;
  readonly by: readonly string[];
  readonly error?: CallError | undefined;
}

/** The stored entry. Times are ms since the Unix epoch. */
export interface Entry {
  readonly state: ComplianceState;
  readonly since: number;
  /** The generation that it was last compared with. */
  readonly observedGeneration: number;
  /** The generation in which the device was last seen in sync; 0: none since it applies. */
  readonly syncedGeneration: number;
  readonly reported: unknown;
  readonly reportedAt: number | undefined;
  /** Sends and failed reads since the last success, edit or change. */
  readonly attempts: number;
  readonly nextTryAt: number | undefined;
  /** When the window next opens or closes. */
  readonly edgeAt: number | undefined;
  /** Times of the latest sends that undid a change of others, oldest first. */
  readonly reverts: readonly number[];
  readonly error: CallError | undefined;
  readonly blockedBy: readonly string[];
  /** A set is under way, or its outcome is not known yet. */
  readonly isSending: boolean;
}

/** READY: a new session. SWEEP: the hourly comparison. */
export type LookCause = 'CHANGE' | 'READY' | 'SWEEP';

/** What is true of a device now. */
export interface Facts {
  readonly isOnline: boolean;
  readonly value: KnownValue | undefined;
  /** An older value is read again. */
  readonly freshSince: number;
  readonly block: Block | undefined;
  readonly edgeAt: number | undefined;
  readonly cause: LookCause;
}

/** What follows: nothing, a read of the value, or a set once there is room. */
export interface Decision {
  readonly entry: Entry;
  readonly next: 'none' | 'read' | 'set';
}

/** When the entry has to be looked at again; undefined: only when something happens. */
export function dueAtOf({ edgeAt, nextTryAt }: Pick<Entry, 'edgeAt' | 'nextTryAt'>): number | undefined {
  if (edgeAt === undefined || nextTryAt === undefined) return edgeAt ?? nextTryAt;
  return Math.min(edgeAt, nextTryAt);
}
