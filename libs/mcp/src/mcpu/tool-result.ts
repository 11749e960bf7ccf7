/** Results of MCP/U tools: any JSON, unwrapped. [mcpu §2.5] */
import type { ToolResult } from '../tools/call-outcome.js';
import { isJsonObject } from '../json-rpc/json-text.js';

/** The one text of a result is its JSON. A refusal to hand out a pin's samples comes as a success and is none. */
export function parseMcpuResult(result: unknown): ToolResult {
  const isError = isJsonObject(result) && result['buffer_available'] === false;
  return {
    content: [{ type: 'text', text: typeof result === 'string' ? result : JSON.stringify(result ?? null) }],
    isError,
  };
}
