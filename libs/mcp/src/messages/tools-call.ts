/**
 * MCP `tools/call`: the request, and answers in one form for records and callers. [xiaozhi §4.5]
 */
import type { ToolContent, ToolResult } from '../tools/call-outcome.js';
import { isJsonObject, parseJsonText } from '../json-rpc/json-text.js';
import type { JsonObject } from '../json-rpc/json-text.js';

/**
 * Items of one answer. Devices send exactly one; the limit keeps a hostile frame from producing
 * thousands of stored items.
 */
export const contentItemsMax = 64;

export function toolsCallParams(tool: string, args: JsonObject): JsonObject {
  return { name: tool, arguments: args };
}

/**
 * Whether a tool name can be sent. Firmware ends strings at NUL and pastes unknown names unescaped
 * into its error text. [xiaozhi §4.2]
 */
export function isSendableName(name: string): boolean {
  return name !== '' && !/["\\\p{Cc}\p{Surrogate}]/u.test(name);
}

/**
 * Returns undefined if the answer is empty. A result without a content list becomes one text: the
 * string itself or its JSON.
 */
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

/** Firmware encodes an image as JSON text in a member `image`, unknown to MCP clients. */
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
