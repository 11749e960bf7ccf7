/** Patterns of event types, as webhooks have them: a type, a prefix such as `device.*`, or `*`. */
import { bind } from '../database/sql-parameters.js';
import { eventTypes } from './event-types.js';

const PREFIX_END = '.*';

export function matchesType(type: string, patterns: readonly string[]): boolean {
  return patterns.some(
    (pattern) =>
      pattern === type || pattern === '*' || (pattern.endsWith(PREFIX_END) && type.startsWith(pattern.slice(0, -1))),
  );
}

/** Whether the hub writes events that the pattern selects. */
export function selectsEvents(pattern: string): boolean {
  return eventTypes.some((type) => matchesType(type, [pattern]));
}

/** The condition that the event `e` matches. */
export function typeCondition(patterns: readonly string[], parameters: unknown[]): string {
  if (patterns.includes('*')) return 'TRUE';
  const [prefixes, types] = [true, false].map((isPrefix) =>
    patterns.filter((pattern) => pattern.endsWith(PREFIX_END) === isPrefix),
  );
  const conditions = [
    ...(types?.length ? [`e.type = ANY(${bind(parameters, types)}::text[])`] : []),
    ...(prefixes ?? []).map((prefix) => `starts_with(e.type, ${bind(parameters, prefix.slice(0, -1))}::text)`),
  ];
  return conditions.length === 0 ? 'FALSE' : `(${conditions.join(' OR ')})`;
}
