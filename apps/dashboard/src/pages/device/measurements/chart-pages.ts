/** The small charts of a device with many paths are shown in pages. */

/** Paths of one request of the API. */
export const pathsMax = 50;

/** Index of the first path of the page with the chosen one. */
export function pageStart(paths: readonly string[], chosen: string | undefined): number {
  const at = chosen === undefined ? 0 : Math.max(0, paths.indexOf(chosen));
  return at - (at % pathsMax);
}
