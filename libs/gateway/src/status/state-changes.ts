/** What differs between two reports of a device's state, as an event says it. */
import { isJsonObject } from '@flotilla/mcp';
import type { JsonObject } from '@flotilla/mcp';

/** `path` as in `audio_speaker.volume`; null for what was not there before, or is not any more. */
export interface StateChange {
  readonly path: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** Changes that one event lists; states of known boards have some ten values. */
const CHANGES_MAX = 50;
/** Levels that are looked into; below them values are compared whole. */
const LEVELS_MAX = 4;

/** What moves by itself all the time. It is kept, but would be an event at every look. [xiaozhi §5.3] */
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
