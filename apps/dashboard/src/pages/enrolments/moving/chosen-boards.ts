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

export function without(chosen: ChosenBoards, deviceIds: readonly string[]): ChosenBoards {
  const gone = new Set(deviceIds);
  return new Set([...chosen].filter((id) => !gone.has(id)));
}

/** What the hub moves with one request. */
const boardsMax = 500;

/** Moves boards until a request fails. Resolves to those that were moved. */
export async function moveInBatches(
  chosen: ChosenBoards,
  move: (deviceIds: readonly string[]) => Promise<boolean>,
): Promise<readonly string[]> {
  const deviceIds = [...chosen];
  for (let start = 0; start < deviceIds.length; start += boardsMax)
    if (!(await move(deviceIds.slice(start, start + boardsMax)))) return deviceIds.slice(0, start);
  return deviceIds;
}
