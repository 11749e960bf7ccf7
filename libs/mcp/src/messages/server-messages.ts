/** Messages of the hub to a device that are not MCP and expect no answer. [xiaozhi §3.2] */
import type { JsonObject } from '../json-rpc/json-text.js';

/** A banner on the device; it ignores one that lacks any of the three texts. Works while the device is idle on MQTT. */
export function alertMessage(alert: {
  readonly status: string;
  readonly message: string;
  readonly emotion: string;
}): JsonObject {
  return { type: 'alert', status: alert.status, message: alert.message, emotion: alert.emotion };
}

/** Ends a conversation over MQTT; the device obeys only where the id is its current one. Not understood on WebSocket. [xiaozhi §2.6] */
export function goodbyeMessage(sessionId: string): JsonObject {
  return { session_id: sessionId, type: 'goodbye' };
}
