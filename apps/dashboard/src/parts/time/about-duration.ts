/** A duration in the unit that a person would choose: seconds, minutes or hours. */
export function aboutDuration(seconds: number, language: string): string {
  const [unit, size] =
    seconds < 120 ? (['second', 1] as const) : seconds < 7_200 ? (['minute', 60] as const) : (['hour', 3_600] as const);
  return new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long', maximumFractionDigits: 0 }).format(
    seconds / size,
  );
}
