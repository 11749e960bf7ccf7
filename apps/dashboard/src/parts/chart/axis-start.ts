/**
 * Zero where the values vary much for their size, such as counts and shares: a line that falls by
 * half looks so. Null leaves a close look at what varies little, such as temperatures.
 */
export function axisStart({ min, max }: { readonly min: number; readonly max: number }): number | null {
  return min >= 0 && max - min >= max / 3 ? 0 : null;
}
