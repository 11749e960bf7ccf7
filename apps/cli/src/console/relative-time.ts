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
  if (length < second) return 'now';
  // "in 1h" directly after a person typed 1h, as in the console.
  const round = distance > 0 ? Math.round : Math.floor;
  const [unit, unitMs] = units.find(([, ms], index) => roundedBy(round, length, units[index + 1]?.[1]) >= ms) ?? [
    's',
    second,
  ];
  return distance > 0 ? `in ${round(length / unitMs)}${unit}` : `${round(length / unitMs)}${unit} ago`;
}

/** The length as the next smaller unit shows it, so that 60 minutes are an hour. */
function roundedBy(round: (value: number) => number, length: number, unitMs = 1): number {
  return round(length / unitMs) * unitMs;
}
