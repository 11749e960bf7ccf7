/** Why and how a device is compared. Looks at one device that wait become one. */
import type { LookCause, TryEnd } from '@flotilla/desired-state';
import type { CallError } from '@flotilla/mcp';

/** A read that failed, by the tool that reads. */
export interface FailedRead {
  readonly error: CallError;
  readonly isSent: boolean;
  /** Of the session in which it failed. A newer session is read again. */
  readonly epoch: number;
}

export interface Look {
  readonly cause: LookCause;
  /** An older value is read again, ms since the Unix epoch. */
  readonly freshSince: number;
  /** By the id of the desired state: tries that ended. */
  readonly ends: ReadonlyMap<string, TryEnd>;
  readonly failedReads: ReadonlyMap<string, FailedRead>;
}

const none: ReadonlyMap<string, never> = new Map<string, never>();

/** Any known value will do, as for a change of tags. */
export const plainLook: Look = { cause: 'CHANGE', freshSince: -Infinity, ends: none, failedReads: none };

export function readyLook(now: number): Look {
  return { ...plainLook, cause: 'READY', freshSince: now };
}

export function lookOfEnd(desiredStateId: string, end: TryEnd): Look {
  return { ...plainLook, ends: new Map([[desiredStateId, end]]) };
}

const weights: Readonly<Record<LookCause, number>> = { CHANGE: 0, SWEEP: 1, READY: 2 };

export function merged(one: Look | undefined, other: Look): Look {
  if (one === undefined) return other;
  return {
    cause: weights[one.cause] >= weights[other.cause] ? one.cause : other.cause,
    freshSince: Math.max(one.freshSince, other.freshSince),
    ends: new Map([...one.ends, ...other.ends]),
    failedReads: new Map([...one.failedReads, ...other.failedReads]),
  };
}
