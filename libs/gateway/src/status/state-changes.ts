/** The differences between two reports of a device's state, for an event. */
import { isJsonObject } from '@flotilla/mcp';
import type { JsonObject } from '@flotilla/mcp';

/** `path` is like `audio_speaker.volume`; null means that the value is missing. */
interface StateChange {
  readonly path: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** Maximum of changes in one event; states of known boards have about ten values. */
const CHANGES_MAX = 50;
/** Nested levels that are compared; values below them are compared whole. */
const LEVELS_MAX = 4;

/** Values that change all the time: they are stored but cause no events. [xiaozhi §5.3] */
const RESTLESS: ReadonlySet<string> = new Set(['chip.temperature']);

export function stateChanges(before: JsonObject | undefined, after: JsonObject): readonly StateChange[] {
  const old = valuesOf(before ?? {});
  const now = valuesOf(after);
  const changes: StateChange[] = [];
  for (const path of new Set([...old.keys(), ...now.keys()])) {
    if (changes.length === CHANGES_MAX) break;
    const [from = null, to = null] = [old.get(path), now.get(path)];
    if (!RESTLESS.has(path) && JSON.stringify(from) !== JSON.stringify(to)) changes.push({ path, from, to });
  }
  return changes;
}

function valuesOf(
  state: JsonObject,
  prefix = '',
  level = 1,
  values = new Map<string, unknown>(),
): ReadonlyMap<string, unknown> {
  for (const [name, value] of Object.entries(state)) {
    if (isJsonObject(value) && level < LEVELS_MAX) valuesOf(value, `${prefix}${name}.`, level + 1, values);
    else values.set(`${prefix}${name}`, value);
  }
  return values;
}
