/**
 * Tool sets addressed by content: the canonical text of a device's tools, and the difference
 * between two sets. The caller computes the hash.
 */
import { isJsonObject } from '../json-rpc/json-text.js';
import type { DevicePin } from '../mcpu/pins.js';
import type { DeviceTool } from './tool.js';

/**
 * Devices with the same tools have the same `canonicalJson`, regardless of the order of tools and
 * schema members.
 */
interface CanonicalToolSet {
  readonly canonicalJson: string;
  /** Sorted by name; the first of equal names counts. */
  readonly tools: readonly DeviceTool[];
}

/** Pins are part of the text only if there are any: hashes of other devices stay unchanged. */
export function canonicalToolSet(tools: readonly DeviceTool[], pins: readonly DevicePin[] = []): CanonicalToolSet {
  const canonical = [...byName(tools).values()].sort((one, other) => (one.name < other.name ? -1 : 1));
  const entries = canonical.map(canonicalTool);
  if (pins.length > 0) entries.push(JSON.stringify({ pins: sortMembers(pins) }));
  return { canonicalJson: `[${entries.join(',')}]`, tools: canonical };
}

/** Sorted names of tools. `changed`: another description, schema or audience. */
interface ToolSetDifference {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

export function diffToolSets(before: readonly DeviceTool[], after: readonly DeviceTool[]): ToolSetDifference {
  const old = byName(before);
  const now = byName(after);
  const isChanged = (tool: DeviceTool) => {
    const former = old.get(tool.name);
    return former !== undefined && former !== tool && canonicalTool(former) !== canonicalTool(tool);
  };
  return {
    added: [...now.keys()].filter((name) => !old.has(name)).sort(),
    removed: [...old.keys()].filter((name) => !now.has(name)).sort(),
    changed: [...now.values()]
      .filter(isChanged)
      .map((tool) => tool.name)
      .sort(),
  };
}

function byName(tools: readonly DeviceTool[]): ReadonlyMap<string, DeviceTool> {
  const named = new Map<string, DeviceTool>();
  for (const tool of tools) if (!named.has(tool.name)) named.set(tool.name, tool);
  return named;
}

function canonicalTool({ name, description, inputSchema, userOnly, pollingIntervalMs }: DeviceTool): string {
  return JSON.stringify({ name, description, inputSchema: sortMembers(inputSchema), userOnly, pollingIntervalMs });
}

/** Sorts members by name at every level. Lists keep their order, which may be significant. */
function sortMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortMembers);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sortMembers(value[key])]),
  );
}
