/** Splits a list into parts of at most `size` values, in their order. */
export function inParts<Value>(values: readonly Value[], size: number): readonly (readonly Value[])[] {
  const parts: (readonly Value[])[] = [];
  for (let start = 0; start < values.length; start += size) parts.push(values.slice(start, start + size));
  return parts;
}
