/**
 * The seam for voice. A `hello` over MQTT asks for a conversation, not for a session: it is answered with where to send audio to, and never delays
 * MCP, which runs on the same connection all the time. [xiaozhi §2.4]
 */
import type { DeviceId, JsonObject } from '@flotilla/mcp';

export interface ConversationRequest {
  readonly deviceId: DeviceId;
  /** Address of the hub that the device reached. */
  readonly localAddress: string | undefined;
  /** Sends a message to the device; false when nothing was accepted. Not to be used before `open` returned. */
  readonly say: (message: JsonObject) => boolean;
}

/** A conversation that was opened. */
export interface Conversation {
  readonly sessionId: string;
  /** The hello that the hub answers with, at once. */
  readonly answer: JsonObject;
  /** The device said goodbye, is gone, or asked for another conversation. Idempotent. */
  readonly end: () => void;
}

export interface ConversationHost {
  open(request: ConversationRequest): Conversation;
}
