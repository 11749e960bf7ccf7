/**
 * Conditions of rules, and the time from which they fire. All times are ms since the Unix epoch.
 */
import type { AlertFacts } from './alert-facts.js';
import type { RuleTerms } from './alert-rule.js';

/** What one condition contributes to the texts of its alert. */
type ConditionFacts = Pick<AlertFacts, 'label' | 'value' | 'total' | 'reason' | 'jobId'>;

export interface Condition {
  /** The id of a device, job or webhook; empty for the fleet. */
  readonly subject: string;
  readonly deviceId: string | undefined;
  readonly beganAt: number;
  /** The stop of a hub process caused it, not the device. */
  readonly byHub: boolean;
  readonly facts: ConditionFacts;
}

/** When the hub last started, and how long its devices may take to return. */
export interface HubStart {
  readonly startedAt: number;
  readonly graceMs: number;
}

/**
 * The time from which a condition fires. After a start of the hub, nothing from before it fires
 * within the grace time, and what the stop of the hub caused counts only from its end.
 */
export function firesAt(
  { beganAt, byHub }: Pick<Condition, 'beganAt' | 'byHub'>,
  { kind, forSeconds }: Pick<RuleTerms, 'kind' | 'forSeconds'>,
  { startedAt, graceMs }: HubStart,
): number {
  const forMs = forSeconds * 1_000;
  if (kind !== 'DEVICE_OFFLINE') return beganAt + forMs;
  if (byHub) return Math.max(beganAt, startedAt) + graceMs + forMs;
  return beganAt < startedAt ? Math.max(beganAt + forMs, startedAt + graceMs) : beganAt + forMs;
}
