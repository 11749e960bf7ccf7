/** MCP `tools/call`: the request, and answers brought into the one form that records and callers know. [xiaozhi §4.5] */
import type { ToolContent, ToolResult } from '../tools/call-outcome.js';
import { isJsonObject, parseJsonText } from '../json-rpc/json-text.js';
import type { JsonObject } from '../json-rpc/json-text.js';

/** Items of one answer. Devices give exactly one; a frame of commas must not become thousands of stored items. */
export const contentItemsMax = 64;

export function toolsCallParams(tool: string, args: JsonObject): JsonObject {
  return { name: tool, arguments: args };
}

/**
 * Whether a tool of this name can be asked for: firmware pastes unknown names unescaped into its error text, so one that needs escaping makes an answer
 * that is no JSON, and ends strings at NUL. [xiaozhi §4.2]
 */
export function isSendableName(name: string): boolean {
  return name !== '' && !/["\\\p{Cc}\p{Surrogate}]/u.test(name);
}

/** Undefined where the device answered with nothing at all. A result without a list of content becomes one text: its JSON, or itself where it is text. */
export function parseToolResult(result: unknown): ToolResult | undefined {
  if (result === undefined || result === null) return undefined;
  if (!isJsonObject(result) || !Array.isArray(result['content'])) return { content: [asText(result)], isError: false };
  const items: readonly unknown[] = result['content'];
  return { content: items.slice(0, contentItemsMax).map(parseItem), isError: result['isError'] === true };
}

function parseItem(item: unknown): ToolContent {
  if (!isJsonObject(item)) return asText(item);
  const { type } = item;
  if (type === 'text') return asText(item['text']);
  if (type === 'image') return parseImage(item);
  return typeof type === 'string' ? { ...item, type } : asText(item);
}

/** Firmware packs an image as JSON text into a member `image`, which no MCP client understands. */
function parseImage(item: JsonObject): ToolContent {
  const packed = item['image'];
  const image = typeof packed === 'string' ? parseJsonText(packed) : item;
  if (!isJsonObject(image) || typeof image['data'] !== 'string') return asText(packed ?? item);
  const mimeType = typeof image['mimeType'] === 'string' ? image['mimeType'] : 'application/octet-stream';
  return { type: 'image', data: image['data'], mimeType };
}

function asText(value: unknown): ToolContent {
  return { type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value ?? null) };
}
