/**
 * The time inside a UUIDv7, both ways: partitions, keysets and the bounds of "since" and "until"
 * come from it.
 */

const HIGHEST_TIME = 2 ** 48 - 1;

/** The lowest UUID of that millisecond, as a bound. No row has it. */
export function lowestUuidOf(at: number): string {
  const hex = Math.min(Math.max(Math.trunc(at), 0), HIGHEST_TIME)
    .toString(16)
    .padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** Milliseconds since the Unix epoch. */
export function timeOfUuid(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** What is no UUID is in no table; PostgreSQL would refuse the statement. */
export function isUuid(id: string): boolean {
  return UUID.test(id);
}
