/** Sends one JSON-RPC message to the MCP server and reads its answer. */
import type { HubProcess } from '../hub/hub-process.js';

export async function askMcp(hub: HubProcess, body: string): Promise<unknown> {
  const headers = {
    authorization: `Bearer ${hub.adminKey}`,
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    'mcp-protocol-version': '2025-11-25',
  };
  const response = await fetch(`${hub.httpUrl}/mcp`, { method: 'POST', headers, body });
  const text = await response.text();
  return JSON.parse(text.startsWith('{') ? text : (/^data: (\{.*)$/m.exec(text)?.[1] ?? '{}'));
}
