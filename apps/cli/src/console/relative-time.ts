/** Times as tables show them: "5m ago". JSON and CSV have the full time. */

const second = 1_000;
const units = [
  ['d', 86_400 * second],
  ['h', 3_600 * second],
  ['m', 60 * second],
  ['s', second],
] as const;

/** After this, a date says more than a number of days. */
const relativeMsMax = 90 * 86_400 * second;

const isoTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;

export function isTime(value: unknown): value is string {
  return typeof value === 'string' && isoTime.test(value);
}

/** Such as "5m ago", "in 3h" or "2026-01-31". */
export function relativeTime(time: string, now: number): string {
  const distance = Date.parse(time) - now;
  const length = Math.abs(distance);
  if (length > relativeMsMax) return time.slice(0, 10);
  const [unit, unitMs] = units.find(([, ms]) => length >= ms) ?? ['s', second];
  if (length < second) return 'now';
  // "in 2h" directly after a person typed 2h, as in the console.
  return distance > 0 ? `in ${Math.round(length / unitMs)}${unit}` : `${Math.floor(length / unitMs)}${unit} ago`;
}
