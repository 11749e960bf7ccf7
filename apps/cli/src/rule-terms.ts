/** The terms of an alert rule: its input without the name, the devices and the channels. */
import type { AlertRuleRowFragment } from './generated/operations.js';

type Row = Omit<AlertRuleRowFragment, 'id' | 'name' | 'devices' | 'channels' | 'pristine'>;

export function ruleTerms(rule: Row) {
  const { kind, severity, forSeconds, threshold, path, below, windowSeconds } = rule;
  const { enabled, groupAbove, repeatEverySeconds } = rule;
  return {
    kind,
    severity,
    forSeconds,
    threshold,
    path,
    below,
    windowSeconds,
    groupAbove,
    repeatEverySeconds,
    enabled,
  };
}
