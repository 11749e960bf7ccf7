/** The time until an end, in its two largest units, so that it stays short. */
const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

type TimeUnit = (typeof units)[number][0];

/** Nothing is left: no parts. */
export function timeLeft(until: number, now: number): readonly (readonly [TimeUnit, number])[] {
  let seconds = Math.max(0, Math.ceil((until - now) / 1_000));
  const parts = units.map(([unit, size]) => {
    const count = Math.floor(seconds / size);
    seconds -= count * size;
    return [unit, count] as const;
  });
  const first = parts.findIndex(([, count]) => count > 0);
  return first < 0 ? [] : parts.slice(first, first + 2);
}
