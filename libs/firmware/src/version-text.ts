/**
 * Versions that a device can parse. Its parser splits at dots and throws if a segment does not
 * begin with a digit or exceeds an int32. The firmware then aborts, and the next boot gets the same
 * answer. [xiaozhi §7.3, §7.5]
 */

/** Characters; versions have about ten. */
const VERSION_LENGTH_MAX = 64;
/** A segment of nine digits is always an int32. The parser ignores what follows the digits. */
const parsable = /^\d{1,9}(?!\d)[^.]*(\.\d{1,9}(?!\d)[^.]*)*$/;
const printableAscii = /^[\x20-\x7e]+$/;

export function isParsableVersion(version: string): boolean {
  return version.length <= VERSION_LENGTH_MAX && printableAscii.test(version) && parsable.test(version);
}

/** Returns the numbers of a version, at most four: `v2.4.2` is 2.4.2; 0.0.0 without numbers. */
export function parsableVersion(text: string): string {
  const numbers =
    text
      .slice(0, VERSION_LENGTH_MAX)
      .match(/\d{1,9}/g)
      ?.slice(0, 4) ?? [];
  return numbers.length === 0 ? '0.0.0' : numbers.join('.');
}
