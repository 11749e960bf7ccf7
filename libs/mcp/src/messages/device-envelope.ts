/**
 * The envelope of device text frames, `{"session_id","type","payload"}`: parses messages of devices
 * and wraps messages to them. A text that is not an envelope yields a value, never an exception.
 * [xiaozhi §3]
 */
import { isJsonObject, parseJsonText } from '../json-rpc/json-text.js';
import type { JsonObject } from '../json-rpc/json-text.js';

/**
 * Devices paste error texts unescaped, so an answer may not be valid JSON. `replyId` is the
 * JSON-RPC id that is still readable. [xiaozhi §4.2, §9 12]
 */
type DeviceEnvelope =
  | { readonly kind: 'mcp'; readonly payload: JsonObject }
  | { readonly kind: 'hello'; readonly message: JsonObject }
  | { readonly kind: 'other'; readonly type: string; readonly message: JsonObject }
  | { readonly kind: 'unparseable'; readonly replyId: number | undefined }
  | { readonly kind: 'invalid'; readonly problem: string };

export function parseDeviceEnvelope(text: string): DeviceEnvelope {
  const message = parseJsonText(text);
  if (message === undefined) return { kind: 'unparseable', replyId: replyIdOf(text) };
  if (!isJsonObject(message)) return { kind: 'invalid', problem: 'the message is not a JSON object' };
  const { type, payload } = message;
  if (typeof type !== 'string') return { kind: 'invalid', problem: '"type" is not a string' };
  if (type === 'hello') return { kind: 'hello', message };
  if (type !== 'mcp') return { kind: 'other', type, message };
  return isJsonObject(payload)
    ? { kind: 'mcp', payload }
    : { kind: 'invalid', problem: '"payload" is not a JSON object' };
}

/** Wraps an MCP payload that is JSON text. The session id is set only if a hello assigned one. */
export function encodeMcpEnvelope(sessionId: string | undefined, payloadText: string): string {
  return sessionId === undefined
    ? `{"type":"mcp","payload":${payloadText}}`
    : `{"session_id":${JSON.stringify(sessionId)},"type":"mcp","payload":${payloadText}}`;
}

/** Matches an envelope as firmware writes it, up to the id. A later id may be pasted text. */
const answerHead =
  /^\s*\{[^{}]{0,300}"type"\s*:\s*"mcp"\s*,\s*"payload"\s*:\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,10})\s*[,}]/;

function replyIdOf(text: string): number | undefined {
  const digits = answerHead.exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
