/** How long ago a moment was, or how long until it, in one unit: the largest that fits. */
type Unit = 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second';

/** Ms, the largest first. */
const units = [
  ['year', 31_557_600_000],
  ['month', 2_629_800_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const satisfies readonly (readonly [Unit, number])[];

/** The rounded count never fills the next larger unit, as 60 minutes do. `ms` may be negative. */
export function timeAgo(ms: number): readonly [count: number, unit: Unit] {
  const [unit, size] = units.find(([, least], index) => roundedTo(ms, units[index + 1]?.[1]) >= least) ?? [
    'second',
    1_000,
  ];
  return [Math.round(ms / size), unit];
}

/** The distance as the next smaller unit shows it. */
function roundedTo(ms: number, size = 1): number {
  return Math.round(Math.abs(ms) / size) * size;
}
