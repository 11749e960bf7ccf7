/** One line of MCP/U: flat JSON-RPC whose method is the tool's name and whose parameters are its arguments. [mcpu §1, §2] */
import type { RpcError } from '../json-rpc/json-rpc.js';
import { isJsonObject, parseJsonText } from '../json-rpc/json-text.js';
import type { JsonObject } from '../json-rpc/json-text.js';

/** Largest id that every board gives back: on AVR an `int` has 16 bits. 0 is what boards answer to what they could not read. [mcpu §0] */
export const mcpuRequestIdMax = 32_767;

export type McpuFrame =
  | { readonly kind: 'result'; readonly id: number; readonly result: unknown }
  | { readonly kind: 'error'; readonly id: number; readonly error: RpcError }
  /** An error under id 0: the device could not read some request, and cannot say which. */
  | { readonly kind: 'unread'; readonly error: RpcError }
  /** A frame, but no answer to anything. */
  | { readonly kind: 'strange'; readonly problem: string }
  /** No frame: boot messages and whatever else the sketch prints. */
  | { readonly kind: 'noise' };

/** Compact and without empty parameters: requests beyond some 110 bytes may be cut on a serial line. [mcpu §1.3] The caller ends the line. */
export function encodeMcpuRequest(id: number, method: string, params: JsonObject): string {
  const text = `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)}`;
  return Object.keys(params).length === 0 ? `${text}}` : `${text},"params":${JSON.stringify(params)}}`;
}

export function readMcpuLine(line: string): McpuFrame {
  const frame = parseFrame(line);
  if (frame === undefined) return { kind: 'noise' };
  const { id, error } = frame;
  if (!Number.isInteger(id)) return { kind: 'strange', problem: 'a frame whose id is no integer' };
  if (typeof frame['method'] === 'string') return { kind: 'strange', problem: 'a request from the device' };
  if (error !== undefined && error !== null) return isJsonObject(error) ? asError(Number(id), error) : strangeError;
  // A handler that gives nothing leaves the member out. [mcpu §2.5]
  return id === 0
    ? { kind: 'strange', problem: 'a result under id 0' }
    : { kind: 'result', id: Number(id), result: frame['result'] ?? null };
}

const strangeError: McpuFrame = { kind: 'strange', problem: '"error" is no object' };

/** Sketches print without line ends, so a frame may be glued to what was printed before it: its own beginning is looked for from behind. [mcpu §1.4] */
function parseFrame(line: string): JsonObject | undefined {
  const whole = parseJsonText(line);
  if (isJsonObject(whole)) return whole;
  const at = Math.max(line.lastIndexOf('{"result"'), line.lastIndexOf('{"jsonrpc"'));
  const glued = at > 0 ? parseJsonText(line.slice(at)) : undefined;
  return isJsonObject(glued) ? glued : undefined;
}

function asError(id: number, { code, message }: JsonObject): McpuFrame {
  const isCodeGiven = Number.isInteger(code);
  const error = {
    code: isCodeGiven ? Number(code) : -32_000,
    isCodeGiven,
    message: typeof message === 'string' ? message : '',
  };
  return id === 0 ? { kind: 'unread', error } : { kind: 'error', id, error };
}
