/** The MCP side of a device for specs: answers initialize, tools/list and tools/call. */

export interface FirmwareOptions {
  readonly version?: string;
  /** The description of each tool. */
  readonly description?: string;
  readonly tools?: readonly string[];
  /** Texts that tools answer with. */
  readonly texts?: Readonly<Record<string, string>>;
  /** Methods that are never answered. */
  readonly silentOn?: readonly string[];
}

interface Request {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly name?: string };
}

/** The answer to a message of the hub, or undefined where it needs none. */
export function answerAsFirmware(
  text: string,
  {
    version = '2.4.2',
    tools = ['self.lamp.turn_on'],
    description = '',
    texts = {},
    silentOn = [],
  }: FirmwareOptions = {},
) {
  const { type, payload } = JSON.parse(text) as { readonly type: string; readonly payload?: Request };
  if (type !== 'mcp' || payload?.id === undefined || silentOn.includes(payload.method)) return undefined;
  const results: Readonly<Record<string, unknown>> = {
    initialize: {
      protocolVersion: '2024-11-05',
      capabilities: { tools: {} },
      serverInfo: { name: 'bread-compact-wifi', version },
    },
    'tools/list': {
      tools: tools.map((name) => ({ name, description, inputSchema: { type: 'object', properties: {} } })),
    },
    'tools/call': {
      content: [{ type: 'text', text: texts[payload.params?.name ?? ''] ?? `did ${payload.params?.name}` }],
      isError: false,
    },
  };
  return JSON.stringify({
    session_id: '',
    type: 'mcp',
    payload: { jsonrpc: '2.0', id: payload.id, result: results[payload.method] },
  });
}
