/** Versions as xiaozhi devices compare them: dotted numbers over the common length; where these are equal, the longer one is newer. [xiaozhi §7.5] */

/** Negative where `a` is older than `b`, positive where it is newer, 0 where they are the same version. */
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
