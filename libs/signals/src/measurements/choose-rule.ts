/** Which recording rule applies to a path of a device. */
import { matchesPath } from './measurement-path.js';
import type { PathPattern } from './measurement-path.js';

interface RuleOrder {
  readonly pattern: PathPattern;
  readonly savedAt: number;
  readonly id: string;
}

/** Latest saved first; the id decides between rules of one moment. */
export function latestFirst(one: RuleOrder, other: RuleOrder): number {
  return other.savedAt - one.savedAt || (other.id > one.id ? 1 : -1);
}

/** The first of the ordered rules that matches the path and covers the device. */
export function chooseRule<Rule extends RuleOrder>(
  rules: readonly Rule[],
  path: string,
  covers: (rule: Rule) => boolean,
): Rule | undefined {
  return rules.find((rule) => matchesPath(rule.pattern, path) && covers(rule));
}
