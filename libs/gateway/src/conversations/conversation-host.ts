/**
 * The seam for voice. A device's `hello` asks for a conversation, not for a session: over MQTT on the connection that is there all the time, over WebSocket
 * with the connection itself. Whoever hosts conversations answers it; MCP goes on beside. [xiaozhi §1.3, §2.4]
 */
import type { DeviceHello, DeviceId, DeviceInfo, JsonObject } from '@flotilla/mcp';
import type { StoredTool } from '@flotilla/registry';

/** What the hub knows of a device that is connected. */
export interface KnownDevice {
  readonly info: DeviceInfo;
  /** Undefined until it has told its tools. */
  readonly tools: readonly StoredTool[] | undefined;
}

/** The device as its conversations use it. */
export interface ConversingDevice {
  readonly deviceId: DeviceId;
  /** The UUID of the device, where its connection told it. */
  readonly clientId: string | undefined;
  readonly remoteAddress: string | undefined;
  /** Address of the hub that the device reached. */
  readonly localAddress: string | undefined;
  /** Bytes that it has not taken yet. */
  readonly unsentBytes: number;
  known(): KnownDevice;
  /** Calls that wait or run. */
  pendingCalls(): number;
  /** Sends a message; false when nothing was accepted. */
  say(message: JsonObject): boolean;
  /** Sends a binary frame, over WebSocket only; false when it was not accepted. */
  sendAudio(frame: Uint8Array): boolean;
  /** Over WebSocket a conversation ends with its connection; over MQTT this does nothing. */
  hangUp(reason: 'no_voice' | 'conversation_ended'): void;
  /** Writes the event `device.conversation`. */
  report(data: JsonObject): void;
}

export interface ConversationRequest {
  readonly device: ConversingDevice;
  readonly hello: DeviceHello;
  /** The hello as the device said it. */
  readonly message: JsonObject;
}

/** The hello that goes back to the device, with the session id in it. */
export interface HelloAnswer {
  readonly sessionId: string;
  readonly message: JsonObject;
}

/** Why the device's side of a conversation is over. */
export type DeviceEnd = 'device_goodbye' | 'device_gone' | 'superseded';

/** A conversation from the hello to its end. */
export interface Conversation {
  /** The device has told what it can do. */
  ready(): void;
  /** A message of the device that is neither hello, goodbye nor MCP. */
  heard(message: JsonObject): void;
  /** A binary frame of a WebSocket device. */
  heardAudio(frame: Uint8Array): void;
  /** A call goes to the device. */
  used(): void;
  /** Idempotent; nothing is said to the device any more. */
  end(why: DeviceEnd): void;
}

export interface ConversationHost {
  /** `answer` runs once, at once or within the 10 s that devices wait, unless the device's side ended before; nothing is said to the device before it. */
  open(request: ConversationRequest, answer: (hello: HelloAnswer) => void): Conversation;
}
