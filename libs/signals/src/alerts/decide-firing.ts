/**
 * Decides which alerts fire. The input is what the database has, so the decision is the same after
 * a restart: nothing depends on a timer.
 */
import { isDeviceKind } from './alert-rule.js';
import type { RuleTerms } from './alert-rule.js';
import { firesAt } from './condition.js';
import type { Condition, HubStart } from './condition.js';

/** Devices that start to fire within this time may be one alert, ms. */
export const GROUP_WINDOW_MS = 30_000;
/** The wait for further devices before an alert about a device is sent, ms. */
const COLLECT_MS = 10_000;

interface FiringState {
  /** Conditions of the rule that have not fired. */
  readonly waiting: readonly Condition[];
  /** Devices of the rule that fired within the last `GROUP_WINDOW_MS`. */
  readonly firedRecently: number;
  /** The newest group alert of the rule that still fires; devices join it until `until`. */
  readonly openGroup: { readonly alertId: string; readonly until: number } | undefined;
}

export interface Firing {
  readonly conditions: readonly Condition[];
  readonly isGroup: boolean;
  /** For a group: until when further devices join it. */
  readonly groupUntil: number | undefined;
}

interface FiringDecision {
  readonly fired: readonly Firing[];
  /** Joins the open group. Its message is not sent again. */
  readonly joined: { readonly alertId: string; readonly conditions: readonly Condition[] } | undefined;
}

const none: FiringDecision = { fired: [], joined: undefined };

export function decideFiring(rule: RuleTerms, state: FiringState, hub: HubStart, now: number): FiringDecision {
  const due = state.waiting
    .map((condition) => ({ condition, at: firesAt(condition, rule, hub) }))
    .filter(({ at }) => at <= now)
    .sort((one, other) => one.at - other.at);
  const [first] = due;
  if (first === undefined) return none;
  const conditions = due.map(({ condition }) => condition);
  if (!isDeviceKind(rule.kind)) return { fired: conditions.map(alone), joined: undefined };
  const { openGroup } = state;
  if (openGroup !== undefined && now <= openGroup.until)
    return { fired: [], joined: { alertId: openGroup.alertId, conditions } };
  if (now < first.at + COLLECT_MS) return none;
  if (conditions.length > 1 && conditions.length + state.firedRecently > rule.groupAbove)
    return { fired: [{ conditions, isGroup: true, groupUntil: first.at + GROUP_WINDOW_MS }], joined: undefined };
  return { fired: conditions.map(alone), joined: undefined };
}

/** How many alerts conditions that fire at these times make; `times` in order. */
export function countAlerts(rule: RuleTerms, times: readonly number[]): number {
  if (!isDeviceKind(rule.kind)) return times.length;
  let count = 0;
  for (let first = 0; first < times.length;) {
    const until = (times[first] ?? 0) + GROUP_WINDOW_MS;
    const next = times.findIndex((at, index) => index > first && at > until);
    const together = (next < 0 ? times.length : next) - first;
    count += together > 1 && together > rule.groupAbove ? 1 : together;
    first += together;
  }
  return count;
}

function alone(condition: Condition): Firing {
  return { conditions: [condition], isGroup: false, groupUntil: undefined };
}
