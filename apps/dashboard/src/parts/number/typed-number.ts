/** What is typed into a field for numbers, also while it is half a number. */

/** Undefined is no number: an empty field, or a sign or a point alone. */
export function numberIn(typed: number | string): number | undefined {
  const number = typed === '' ? Number.NaN : Number(typed);
  return Number.isFinite(number) ? number : undefined;
}

interface Bounds {
  readonly min: number | undefined;
  readonly max: number | undefined;
}

export function numberWithin(number: number, { min = -Infinity, max = Infinity }: Bounds): number {
  return Math.min(max, Math.max(min, number));
}

interface Typed {
  readonly typed: number | string;
  readonly value: number | undefined;
  /** What an empty field stands for. */
  readonly fallback: number | undefined;
}

/** The text as typed, such as `0.` and `1.50`, as long as it means the value. */
export function shownNumber({ typed, value, fallback }: Typed): number | string {
  return (numberIn(typed) ?? fallback) === value ? typed : (value ?? '');
}
