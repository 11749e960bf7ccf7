/** The release line of Node that the hub recommends: the oldest with active long-term support. */
const RECOMMENDED_MAJOR = 24;

/** A hint for an operator who runs an older Node; undefined otherwise. `version`: `24.1.0`. */
export function olderNodeHint(version: string): string | undefined {
  return Number.parseInt(version, 10) < RECOMMENDED_MAJOR
    ? `Node ${version} works, but is slower than Node ${RECOMMENDED_MAJOR} and gets security fixes ` +
        `for a shorter time. Use Node ${RECOMMENDED_MAJOR} when you can.`
    : undefined;
}
