/** Messages of the hub to a device that are not MCP and have no answer. [xiaozhi §3.2] */
import type { JsonObject } from '../json-rpc/json-text.js';

/**
 * Shows a banner. The device ignores it if any of the three texts is missing. Works on MQTT while
 * the device is idle.
 */
export function alertMessage(alert: {
  readonly status: string;
  readonly message: string;
  readonly emotion: string;
}): JsonObject {
  return { type: 'alert', status: alert.status, message: alert.message, emotion: alert.emotion };
}

/**
 * Ends a conversation over MQTT if the id is the current one of the device. Not supported on
 * WebSocket. [xiaozhi §2.6]
 */
export function goodbyeMessage(sessionId: string): JsonObject {
  return { session_id: sessionId, type: 'goodbye' };
}
