/** Pages of `tools/list` as broken forks send them: cursors that lead nowhere. */
import type { ToolList } from '../calls/tool-list.js';

const ENDLESS_NAME = 'self.endless.';

/** The first page, always, with the cursor that was asked for or else with its own first tool. */
export function repeatingPage(tools: ToolList, cursor: string): string {
  const first = tools.page('', false);
  const listed: unknown = 'result' in first ? JSON.parse(first.result) : undefined;
  return JSON.stringify({ ...(listed ?? { tools: [] }), nextCursor: cursor || (tools.names[0] ?? '') });
}

/** One invented tool per page, and always a next page. */
export function endlessPage(cursor: string): string {
  const number = cursor.startsWith(ENDLESS_NAME) ? Number.parseInt(cursor.slice(ENDLESS_NAME.length), 10) || 0 : 0;
  const tool = {
    name: `${ENDLESS_NAME}${number}`,
    description: 'Never the last',
    inputSchema: { type: 'object', properties: {} },
  };
  return JSON.stringify({ tools: [tool], nextCursor: `${ENDLESS_NAME}${number + 1}` });
}
