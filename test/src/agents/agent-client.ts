/** An agent's host: the reference client of the MCP SDK against the hub's `/mcp`. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { HubProcess } from '../hub/hub-process.js';

export const revisions = ['2025-11-25', '2026-07-28'] as const;

export interface AgentOptions {
  readonly revision?: (typeof revisions)[number];
  readonly key?: string;
  readonly mode?: 'full' | 'compact';
  /** Called when the server says that the list of tools changed. */
  readonly onToolsChanged?: () => void;
}

export async function connectAgent(
  hub: Pick<HubProcess, 'httpUrl' | 'adminKey'>,
  options: AgentOptions = {},
): Promise<Client> {
  const { revision = '2026-07-28', key = hub.adminKey, mode, onToolsChanged } = options;
  const client = new Client(
    { name: 'story', version: '1.0.0' },
    {
      versionNegotiation: { mode: revision === '2026-07-28' ? { pin: revision } : 'legacy' },
      ...(onToolsChanged && { listChanged: { tools: { onChanged: onToolsChanged, autoRefresh: false } } }),
    },
  );
  const url = new URL(`/mcp${mode === undefined ? '' : `?mode=${mode}`}`, hub.httpUrl);
  await client.connect(
    new StreamableHTTPClientTransport(url, { requestInit: { headers: { authorization: `Bearer ${key}` } } }),
  );
  return client;
}
