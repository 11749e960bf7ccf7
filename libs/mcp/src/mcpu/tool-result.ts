/** Results of MCP/U tools: any JSON, without a wrapper. [mcpu §2.5] */
import type { ToolResult } from '../tools/call-outcome.js';
import { isJsonObject } from '../json-rpc/json-text.js';

/**
 * Converts a result to one text with its JSON. A rejected request for samples arrives as a success,
 * and counts as an error.
 */
export function parseMcpuResult(result: unknown): ToolResult {
  const isError = isJsonObject(result) && result['buffer_available'] === false;
  return {
    content: [{ type: 'text', text: typeof result === 'string' ? result : JSON.stringify(result ?? null) }],
    isError,
  };
}
