/** The answer to `list_tools`: tools and pins in one frame. [mcpu §2.4] */
import { isJsonObject } from '../json-rpc/json-text.js';
import type { JsonObject } from '../json-rpc/json-text.js';
import type { DeviceTool, JsonSchema, ToolPage } from '../tools/tool.js';
import { builtinSchemas } from './builtin-schemas.js';
import { deviceText } from '../device-text.js';
import { parsePins } from './pins.js';

/** UTF-16 code units. A name is a key and is sent back; people and AI agents read a description. */
const toolNameMax = 64;
const toolDescriptionMax = 512;

/** The longest interval of firmware, ms. Larger values are read as this one. [mcpu §2.4] */
const pollingIntervalMsMax = 65_535;

/** Marks an unknown schema: boards do not report parameters of custom tools. [mcpu §0] */
const unknownParameters = { 'x-params-unknown': true };

/** Returns undefined if the result has no list of tools. The first of equal names counts. */
export function parseMcpuTools(result: unknown): ToolPage | undefined {
  if (!isJsonObject(result) || !Array.isArray(result['tools'])) return undefined;
  const entries: readonly unknown[] = result['tools'];
  const tools = entries
    .map((entry) => (isJsonObject(entry) ? parseTool(entry) : undefined))
    .filter((tool) => tool !== undefined);
  return {
    tools,
    nextCursor: undefined,
    droppedEntries: entries.length - tools.length,
    pins: parsePins(result['pins']),
  };
}

function parseTool({ name, description, inputSchema, polling }: JsonObject): DeviceTool | undefined {
  if (typeof name !== 'string' || name === '' || name.length > toolNameMax || /\p{Cc}/u.test(name)) return undefined;
  const pollingIntervalMs = isJsonObject(polling) && polling['enabled'] === true ? polling['interval_ms'] : undefined;
  return {
    name,
    description: deviceText(description, toolDescriptionMax),
    inputSchema: parseInputSchema(name, inputSchema),
    userOnly: false,
    ...(Number.isInteger(pollingIntervalMs) && Number(pollingIntervalMs) > 0
      ? { pollingIntervalMs: Math.min(Number(pollingIntervalMs), pollingIntervalMsMax) }
      : {}),
  };
}

/** A missing schema or one without properties means that the parameters are unknown. [mcpu §3.2] */
function parseInputSchema(name: string, inputSchema: unknown): JsonSchema {
  if (hasParameters(inputSchema)) return inputSchema;
  return (
    builtinSchemas.get(name) ?? {
      type: 'object',
      ...(isJsonObject(inputSchema) ? inputSchema : {}),
      ...unknownParameters,
    }
  );
}

function hasParameters(inputSchema: unknown): inputSchema is JsonSchema {
  if (!isJsonObject(inputSchema)) return false;
  const { properties } = inputSchema;
  return isJsonObject(properties) && Object.keys(properties).length > 0;
}
