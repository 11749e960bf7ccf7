/**
 * MCP `tools/list`: requests and parses a page; members may be missing. [xiaozhi §4.4, §9 15-19]
 */
import { isJsonObject } from '../json-rpc/json-text.js';
import type { JsonObject } from '../json-rpc/json-text.js';
import type { DeviceTool, JsonSchema, ToolPage } from '../tools/tool.js';

/** UTF-16 code units of a tool's name, which is a key in tables. The longest known has 40. */
const toolNameMax = 256;

/** Every page repeats the flag: without it a cursor that names a user-only tool is an error. */
export function toolsListParams(cursor: string | undefined): JsonObject {
  return cursor === undefined ? { withUserTools: true } : { cursor, withUserTools: true };
}

/**
 * Returns undefined if the result has no list of tools. Drops and counts entries without a valid
 * name; ignores an empty cursor.
 */
export function parseToolPage(result: unknown): ToolPage | undefined {
  if (!isJsonObject(result) || !Array.isArray(result['tools'])) return undefined;
  const entries: readonly unknown[] = result['tools'];
  const tools = entries.map(parseTool).filter((tool) => tool !== undefined);
  const cursor = result['nextCursor'];
  return {
    tools,
    nextCursor: typeof cursor === 'string' && cursor !== '' ? cursor : undefined,
    droppedEntries: entries.length - tools.length,
  };
}

function parseTool(entry: unknown): DeviceTool | undefined {
  if (!isJsonObject(entry)) return undefined;
  const { name, description, inputSchema, annotations } = entry;
  if (typeof name !== 'string' || name === '' || name.length > toolNameMax) return undefined;
  return {
    name,
    description: typeof description === 'string' ? description : '',
    inputSchema: parseInputSchema(inputSchema),
    userOnly: isForUsersOnly(annotations),
  };
}

/** Some microcontrollers omit the schema, or its properties, for a tool without arguments. */
function parseInputSchema(inputSchema: unknown): JsonSchema {
  if (!isJsonObject(inputSchema)) return { type: 'object', properties: {} };
  return inputSchema['properties'] === undefined && inputSchema['type'] === 'object'
    ? { ...inputSchema, properties: {} }
    : inputSchema;
}

function isForUsersOnly(annotations: unknown): boolean {
  const audience = isJsonObject(annotations) ? annotations['audience'] : undefined;
  return Array.isArray(audience) && audience.length > 0 && audience.every((reader) => reader === 'user');
}
