/**
 * What a voice server may say to a device through the hub. Devices match member names without regard to case and take the first of two: what reads
 * harmless here could be a tool call or a reboot there, so a message that a device might read otherwise is not passed on. [xiaozhi §4.1]
 */
import type { JsonObject } from '../json-rpc/json-text.js';
import { findUnsafeValue } from '../json-rpc/unsafe-value.js';

/** `mcp`, `hello` and `goodbye` are for the hub; the rest is for the device. */
export type ServerMessage =
  | { readonly kind: 'hello' | 'goodbye' }
  | { readonly kind: 'mcp'; readonly payload: unknown }
  | { readonly kind: 'relayed'; readonly type: string }
  | { readonly kind: 'refused'; readonly problem: string };

/** Sorts a message. `system` reboots a device: that is for those who may call its user-only tools. */
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
