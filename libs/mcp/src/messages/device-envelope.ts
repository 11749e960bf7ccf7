/**
 * The envelope of device text frames, `{"session_id","type","payload"}`: reads what devices send and wraps what they are sent. A frame that is none is
 * a value, never an exception. [xiaozhi §3]
 */
import { isJsonObject, parseJsonText } from '../json-rpc/json-text.js';
import type { JsonObject } from '../json-rpc/json-text.js';

/**
 * `replyId` of an unparseable frame is the JSON-RPC id that can still be read from it: devices paste error texts in unescaped, so the answer of a
 * call may be no JSON and yet belong to that call. [xiaozhi §4.2, §9 12]
 */
export type DeviceEnvelope =
  | { readonly kind: 'mcp'; readonly payload: JsonObject }
  | { readonly kind: 'hello'; readonly message: JsonObject }
  | { readonly kind: 'other'; readonly type: string; readonly message: JsonObject }
  | { readonly kind: 'unparseable'; readonly replyId: number | undefined }
  | { readonly kind: 'invalid'; readonly problem: string };

export function parseDeviceEnvelope(text: string): DeviceEnvelope {
  const message = parseJsonText(text);
  if (message === undefined) return { kind: 'unparseable', replyId: replyIdOf(text) };
  if (!isJsonObject(message)) return { kind: 'invalid', problem: 'the message is no JSON object' };
  const { type, payload } = message;
  if (typeof type !== 'string') return { kind: 'invalid', problem: '"type" is no string' };
  if (type === 'hello') return { kind: 'hello', message };
  if (type !== 'mcp') return { kind: 'other', type, message };
  return isJsonObject(payload) ? { kind: 'mcp', payload } : { kind: 'invalid', problem: '"payload" is no JSON object' };
}

/** Wraps an MCP payload, already JSON text. A session id is told only where a hello gave one. */
export function encodeMcpEnvelope(sessionId: string | undefined, payloadText: string): string {
  return sessionId === undefined
    ? `{"type":"mcp","payload":${payloadText}}`
    : `{"session_id":${JSON.stringify(sessionId)},"type":"mcp","payload":${payloadText}}`;
}

/** Texts of an envelope's beginning up to the id, as firmware writes them; an id that comes later may be part of a pasted text. */
const answerHead =
  /^\s*\{[^{}]{0,300}"type"\s*:\s*"mcp"\s*,\s*"payload"\s*:\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,10})\s*[,}]/;

function replyIdOf(text: string): number | undefined {
  const digits = answerHead.exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
