/**
 * The selected boards by their ids. A board stays selected when a refresh shows fewer rows than
 * were loaded.
 */

export type ChosenBoards = ReadonlySet<string>;

export function toggled(chosen: ChosenBoards, deviceId: string): ChosenBoards {
  return chosen.has(deviceId) ? new Set([...chosen].filter((id) => id !== deviceId)) : new Set([...chosen, deviceId]);
}

/** Adds all boards that are shown; or none is left, also of those that are not shown. */
export function toggledAll(chosen: ChosenBoards, shown: readonly string[], areAll: boolean): ChosenBoards {
  return new Set(areAll ? [...chosen, ...shown] : []);
}
