/** Bounds the size of a stored result. */
import type { ToolResult } from '@flotilla/mcp';

/**
 * Returns `result`, or the beginning of its text with a note if its JSON is longer than
 * `charactersMax` characters.
 */
export function boundedResult(result: ToolResult, charactersMax: number): ToolResult {
  const length = JSON.stringify(result).length;
  if (length <= charactersMax) return result;
  const text = result.content
    .map((item) => (typeof item['text'] === 'string' ? item['text'] : `[${item.type}]`))
    .join('\n');
  // Half the bound, because escaping may double a text.
  const kept = `the hub keeps ${String(charactersMax)}`;
  const note = `[The result had ${String(length)} characters of JSON; ${kept}. This is its beginning.]`;
  return {
    content: [{ type: 'text', text: `${text.slice(0, Math.floor(charactersMax / 2))}\n${note}` }],
    isError: result.isError,
  };
}
