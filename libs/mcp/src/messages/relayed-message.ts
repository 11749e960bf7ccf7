/**
 * Classifies messages of a voice server to a device. Devices match member names without regard to
 * case and take the first of two. A message that a device could read differently is rejected,
 * because it could be a tool call or a restart there. [xiaozhi §4.1]
 */
import type { JsonObject } from '../json-rpc/json-text.js';
import { findUnsafeValue } from '../json-rpc/unsafe-value.js';

/** The hub handles `mcp`, `hello` and `goodbye`; other types go to the device. */
type ServerMessage =
  | { readonly kind: 'hello' | 'goodbye' }
  | { readonly kind: 'mcp'; readonly payload: unknown }
  | { readonly kind: 'relayed'; readonly type: string }
  | { readonly kind: 'refused'; readonly problem: string };

/** `system` restarts a device, so it requires the right to call user-only tools. */
export function sortServerMessage(message: JsonObject, rules: { readonly maySendSystem: boolean }): ServerMessage {
  const { type } = message;
  if (typeof type !== 'string') return refused('a message has a string "type"');
  const unsafe = findUnsafeValue(message);
  if (unsafe !== undefined) return refused(`${unsafe.path} ${unsafe.rule}`);
  if (type === 'mcp') return { kind: 'mcp', payload: message['payload'] };
  if (type === 'hello' || type === 'goodbye') return { kind: type };
  return type === 'system' && !rules.maySendSystem
    ? refused('"system" is not for voice servers')
    : { kind: 'relayed', type };
}

function refused(problem: string): ServerMessage {
  return { kind: 'refused', problem };
}
