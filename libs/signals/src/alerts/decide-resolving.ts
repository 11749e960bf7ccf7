/** Decides which conditions of alerts are over, and which alerts that resolves. */
import type { RuleTerms } from './alert-rule.js';

/** A condition that fired. */
export interface FiredCondition {
  readonly subject: string;
  readonly alertId: string;
  /** Undefined while it holds. */
  readonly clearedAt: number | undefined;
}

interface ResolvingDecision {
  /** Conditions that were gone for long enough. From now on they can fire again. */
  readonly ended: readonly FiredCondition[];
  /** The alerts without further conditions. */
  readonly resolved: readonly string[];
}

/** `fired` has all fired conditions of the alerts that it names. */
export function decideResolving(
  { forSeconds }: Pick<RuleTerms, 'forSeconds'>,
  fired: readonly FiredCondition[],
  now: number,
): ResolvingDecision {
  const isOver = ({ clearedAt }: FiredCondition) => clearedAt !== undefined && clearedAt + forSeconds * 1_000 <= now;
  const ended = fired.filter(isOver);
  const firing = new Set(fired.filter((condition) => !isOver(condition)).map(({ alertId }) => alertId));
  return { ended, resolved: [...new Set(ended.map(({ alertId }) => alertId))].filter((id) => !firing.has(id)) };
}
