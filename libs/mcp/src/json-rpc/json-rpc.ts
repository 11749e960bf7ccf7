/**
 * JSON-RPC 2.0 with single messages (no batches) and int32 ids. Encodes requests of the hub and
 * classifies messages of devices. It does not know any methods.
 */
import { codeFromMessage } from './json-rpc-errors.js';
import { isJsonObject } from './json-text.js';
import type { JsonObject } from './json-text.js';

/** The largest request id that devices return unchanged. [xiaozhi §4.1] */
export const int32Max = 2_147_483_647;
export const int32Min = -2_147_483_648;

/** An error answer. If it has no code of 32 bits, `code` is derived from the message. */
export interface RpcError {
  readonly code: number;
  readonly isCodeGiven: boolean;
  readonly message: string;
}

/**
 * `invalid` carries the id if it is readable, so that the request need not wait for its timeout. An
 * absent id is undefined; 0 is an id.
 */
type RpcMessage =
  | { readonly kind: 'result'; readonly id: number; readonly result: unknown }
  | { readonly kind: 'error'; readonly id: number; readonly error: RpcError }
  | { readonly kind: 'request'; readonly id: number; readonly method: string; readonly params: unknown }
  | { readonly kind: 'notification'; readonly method: string; readonly params: unknown }
  | { readonly kind: 'invalid'; readonly id: number | undefined; readonly problem: string };

export function encodeRequest(id: number, method: string, params: JsonObject): string {
  return `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${JSON.stringify(params)}}`;
}

export function encodeNotification(method: string): string {
  return `{"jsonrpc":"2.0","method":${JSON.stringify(method)}}`;
}

export function parseRpcMessage(payload: unknown): RpcMessage {
  if (!isJsonObject(payload)) return invalid(undefined, 'the payload is not a JSON object');
  const id = isInt32(payload['id']) ? payload['id'] : undefined;
  if (payload['jsonrpc'] !== '2.0') return invalid(id, '"jsonrpc" is not "2.0"');
  const { result, error } = payload;
  // Some firmware sends both members, the one that does not apply as null.
  const hasResult = result !== undefined && !(result === null && isJsonObject(error));
  const hasError = error !== undefined && !(error === null && result !== undefined && result !== null);
  if (payload['method'] !== undefined) {
    return hasResult || hasError ? invalid(id, 'both a method and an answer') : parseCall(payload, id);
  }
  if (hasResult && hasError) return invalid(id, 'both "result" and "error"');
  if (!hasResult && !hasError) return invalid(id, 'neither "method", "result" nor "error"');
  if (id === undefined) return invalid(undefined, 'an answer whose id is not a 32-bit integer');
  return hasResult ? { kind: 'result', id, result } : parseError(id, error);
}

function parseCall(payload: JsonObject, id: number | undefined): RpcMessage {
  const { method, params } = payload;
  if (typeof method !== 'string') return invalid(id, '"method" is not a string');
  if (payload['id'] === undefined) return { kind: 'notification', method, params };
  return id === undefined
    ? invalid(undefined, 'a request whose id is not a 32-bit integer')
    : { kind: 'request', id, method, params };
}

function parseError(id: number, error: unknown): RpcMessage {
  if (!isJsonObject(error)) return invalid(id, '"error" is not an object');
  const message = typeof error['message'] === 'string' ? error['message'] : '';
  const code = error['code'];
  const isCodeGiven = isInt32(code);
  return {
    kind: 'error',
    id,
    error: { code: isCodeGiven ? code : codeFromMessage(message), isCodeGiven, message },
  };
}

function invalid(id: number | undefined, problem: string): RpcMessage {
  return { kind: 'invalid', id, problem };
}

/** JSON-RPC codes and ids of devices: GraphQL and PostgreSQL take no larger ones. */
export function isInt32(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= int32Min && Number(value) <= int32Max;
}
