/** A rule as the input that would make it. */
import type { AlertRuleFieldsFragment, AlertRuleInput, DeviceFilter } from './generated/alerts';
import { isObject } from '../../parts/unknown-values';

export function inputOfRule(rule: AlertRuleFieldsFragment): AlertRuleInput {
  const { name, kind, severity, forSeconds, threshold, path, below, windowSeconds, groupAbove, enabled } = rule;
  return {
    name,
    kind,
    severity,
    forSeconds,
    threshold,
    path,
    below,
    windowSeconds,
    groupAbove,
    enabled,
    // The API returns the filter as the shape of its input.
    devices: rule.devices as DeviceFilter | null,
    repeatEverySeconds: rule.repeatEverySeconds,
    channelIds: rule.channels.map(({ id }) => id),
  };
}

/** The filter in a text field; null for all devices, undefined if it is not an object in JSON. */
export function filterIn(text: string): DeviceFilter | null | undefined {
  if (text.trim() === '') return null;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? (value as DeviceFilter) : undefined;
  } catch {
    return undefined;
  }
}
