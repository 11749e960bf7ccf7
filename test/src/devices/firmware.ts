/**
 * The MCP side of a simple device: answers initialize, tools/list and tools/call over any
 * transport.
 */

export interface Firmware {
  readonly version?: string;
  /** As `tools/list` returns them. */
  readonly tools?: readonly unknown[];
  /** Methods that are never answered. */
  readonly silentOn?: readonly string[];
}

export interface DeviceRequest {
  readonly id: number;
  readonly method: string;
  readonly params?: { readonly name?: string; readonly arguments?: Readonly<Record<string, unknown>> };
}

export const lamp = {
  name: 'self.lamp.turn_on',
  description: 'Turns the lamp on',
  inputSchema: { type: 'object', properties: {} },
};

/** The MCP request in a message of the hub, if it is one. */
export function requestIn(text: string): DeviceRequest | undefined {
  const { type, payload } = JSON.parse(text) as { readonly type: string; readonly payload?: DeviceRequest };
  return type === 'mcp' && payload?.id !== undefined ? payload : undefined;
}

/** The message that answers a request with this result. */
export function answerTo({ id }: Pick<DeviceRequest, 'id'>, result: unknown): string {
  return JSON.stringify({ session_id: '', type: 'mcp', payload: { jsonrpc: '2.0', id, result } });
}

/** The answer to a message of the hub, or undefined where it needs none. */
export function answerAsFirmware(
  text: string,
  { version = '2.4.2', tools = [lamp], silentOn = [] }: Firmware = {},
): string | undefined {
  const request = requestIn(text);
  if (request === undefined || silentOn.includes(request.method)) return undefined;
  const results: Readonly<Record<string, unknown>> = {
    initialize: {
      protocolVersion: '2024-11-05',
      capabilities: { tools: {} },
      serverInfo: { name: 'bread-compact-wifi', version },
    },
    'tools/list': { tools },
    'tools/call': { content: [{ type: 'text', text: `did ${request.params?.name}` }], isError: false },
  };
  return answerTo(request, results[request.method]);
}

/** An unexpected notification. */
export function notification(method: string, params: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({ session_id: '', type: 'mcp', payload: { jsonrpc: '2.0', method, params } });
}
