/**
 * Compares versions like xiaozhi devices: dotted numbers over the common length; if these are
 * equal, the longer one is newer. [xiaozhi §7.5]
 */

/** Negative if `a` is older than `b`, positive if it is newer, 0 if they are equal. */
export function compareVersions(a: string, b: string): number {
  const left = numbersOf(a);
  const right = numbersOf(b);
  for (let part = 0; part < Math.min(left.length, right.length); part += 1) {
    const difference = (left[part] ?? 0) - (right[part] ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

function numbersOf(version: string): readonly number[] {
  return version.split('.').map((part) => Number.parseInt(part, 10) || 0);
}
