/** When a job stops by itself. [jobs §15] */
import type { TargetOutcome } from '../job-types.js';

/** Ends that a rule may count. The others are successes, or say nothing about the devices. */
export type AbortOutcome = Extract<TargetOutcome, 'FAILED' | 'REJECTED' | 'VERIFY_FAILED' | 'UNKNOWN' | 'EXPIRED'>;

/** Over which targets a rule counts: those of the open wave, or all. */
type AbortScope = 'WAVE' | 'JOB';
export type AbortAction = 'PAUSE' | 'CANCEL';

/**
 * Trips at `count` such ends, or at a `ratio` (0 to 1) of at least `minDecided` decided targets.
 */
export interface AbortRule {
  readonly outcomes: readonly AbortOutcome[];
  readonly scope: AbortScope;
  /** 20, or the size of the first wave where that is smaller, unless given. */
  readonly minDecided?: number;
  readonly ratio?: number;
  readonly count?: number;
  readonly action: AbortAction;
  /** The rule holds in this wave only. */
  readonly onlyWave?: number;
}

/** What a rule counts at one moment. */
export interface RuleCounts {
  readonly decided: number;
  readonly failed: number;
  /** Of the failed: devices that were overdue, and ends UNKNOWN. Absent for a rule without them. */
  readonly overdue?: number;
  readonly unknown?: number;
}

/** The rule that stopped the job, and what it saw. */
export interface TrippedRule extends RuleCounts {
  readonly rule: AbortRule;
  /** The open wave at that moment. */
  readonly wave: number;
  /** Ms since the Unix epoch. */
  readonly at: number;
  /** What each rule of the job had counted. A resumed job is judged on later ends. */
  readonly seen: readonly RuleCounts[];
}
