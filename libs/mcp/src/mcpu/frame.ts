/**
 * One line of MCP/U: flat JSON-RPC with the tool name as method and its arguments as parameters.
 * [mcpu §1, §2]
 */
import { isInt32 } from '../json-rpc/json-rpc.js';
import type { RpcError } from '../json-rpc/json-rpc.js';
import { isJsonObject, parseJsonText } from '../json-rpc/json-text.js';
import type { JsonObject } from '../json-rpc/json-text.js';

/**
 * The largest id that every board returns: AVR integers have 16 bits. Boards use 0 for requests
 * that they could not read. [mcpu §0]
 */
export const mcpuRequestIdMax = 32_767;

type McpuFrame =
  | { readonly kind: 'result'; readonly id: number; readonly result: unknown }
  | { readonly kind: 'error'; readonly id: number; readonly error: RpcError }
  /** An error with id 0: the device could not read some request and cannot say which. */
  | { readonly kind: 'unread'; readonly error: RpcError }
  /** A frame that does not answer any request. */
  | { readonly kind: 'strange'; readonly problem: string }
  /** Not a frame: boot messages and other output of the sketch. */
  | { readonly kind: 'noise' };

/**
 * Encodes without spaces and empty parameters: serial lines may cut requests beyond about 110
 * bytes. The caller adds the line end. [mcpu §1.3]
 */
export function encodeMcpuRequest(id: number, method: string, params: JsonObject): string {
  const text = `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)}`;
  return Object.keys(params).length === 0 ? `${text}}` : `${text},"params":${JSON.stringify(params)}}`;
}

export function readMcpuLine(line: string): McpuFrame {
  const frame = parseFrame(line);
  if (frame === undefined) return { kind: 'noise' };
  const { id, error } = frame;
  if (!Number.isInteger(id)) return { kind: 'strange', problem: 'a frame whose id is not an integer' };
  if (typeof frame['method'] === 'string') return { kind: 'strange', problem: 'a request from the device' };
  if (error !== undefined && error !== null) return isJsonObject(error) ? asError(Number(id), error) : strangeError;
  // A handler without a result omits the member. [mcpu §2.5]
  return id === 0
    ? { kind: 'strange', problem: 'a result under id 0' }
    : { kind: 'result', id: Number(id), result: frame['result'] ?? null };
}

const strangeError: McpuFrame = { kind: 'strange', problem: '"error" is not an object' };

/**
 * Sketches print without line ends, so a frame may follow other output on its line. Searches for
 * its beginning from the end. [mcpu §1.4]
 */
function parseFrame(line: string): JsonObject | undefined {
  const whole = parseJsonText(line);
  if (isJsonObject(whole)) return whole;
  const at = Math.max(line.lastIndexOf('{"result"'), line.lastIndexOf('{"jsonrpc"'));
  const glued = at > 0 ? parseJsonText(line.slice(at)) : undefined;
  return isJsonObject(glued) ? glued : undefined;
}

function asError(id: number, { code, message }: JsonObject): McpuFrame {
  const isCodeGiven = isInt32(code);
  const error = {
    code: isCodeGiven ? code : -32_000,
    isCodeGiven,
    message: typeof message === 'string' ? message : '',
  };
  return id === 0 ? { kind: 'unread', error } : { kind: 'error', id, error };
}
