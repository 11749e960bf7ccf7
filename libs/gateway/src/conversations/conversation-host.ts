/**
 * The interface to voice. A `hello` asks for a conversation, not for a session: over MQTT on the
 * permanent connection, over WebSocket with the connection itself. The conversation host answers
 * it, and MCP continues beside it. [xiaozhi §1.3, §2.4]
 */
import type { DeviceHello, DeviceId, DeviceInfo, JsonObject } from '@flotilla/mcp';
import type { StoredTool } from '@flotilla/registry';

/** What the hub knows about a connected device. */
export interface KnownDevice {
  readonly info: DeviceInfo;
  /** Undefined until its tools are listed. */
  readonly tools: readonly StoredTool[] | undefined;
}

/** The device as its conversations use it. */
export interface ConversingDevice {
  readonly deviceId: DeviceId;
  /** The UUID of the device, if its connection contained one. */
  readonly clientId: string | undefined;
  readonly remoteAddress: string | undefined;
  /** The address of the hub that the device reached. */
  readonly localAddress: string | undefined;
  /** Bytes that the device has not received yet. */
  readonly unsentBytes: number;
  known(): KnownDevice;
  /** Calls that wait or run. */
  pendingCalls(): number;
  /** Sends a message; false if it was not accepted. */
  say(message: JsonObject): boolean;
  /** Sends a binary frame, over WebSocket only; false if it was not accepted. */
  sendAudio(frame: Uint8Array): boolean;
  /** Ends the connection of a WebSocket conversation; over MQTT this does nothing. */
  hangUp(reason: 'no_voice' | 'conversation_ended'): void;
  /** Writes the event `device.conversation`. */
  report(data: JsonObject): void;
}

export interface ConversationRequest {
  readonly device: ConversingDevice;
  readonly hello: DeviceHello;
  /** The hello as the device sent it. */
  readonly message: JsonObject;
}

/** The hello that goes back to the device, with the session id in it. */
export interface HelloAnswer {
  readonly sessionId: string;
  readonly message: JsonObject;
}

/** Why the device's side of a conversation ended. */
export type DeviceEnd = 'device_goodbye' | 'device_gone' | 'superseded';

/** The hub ends the session of the device. `hub_closed`: an operator asked for it. */
export type HubEnd = 'hub_closed' | 'hub_stopping';

/** A conversation from the hello to its end. */
export interface Conversation {
  /** Whether a voice server takes part, or is being asked. */
  readonly hasVoice: boolean;
  /** The session of the device is ready. */
  ready(): void;
  /** Takes a message of the device that is not a hello, a goodbye or MCP. */
  heard(message: JsonObject): void;
  /** Takes a binary frame of a WebSocket device. */
  heardAudio(frame: Uint8Array): void;
  /** A call goes to the device. */
  used(): void;
  /** Ends the conversation. Idempotent; the device gets a goodbye only if the hub ends it. */
  end(why: DeviceEnd | HubEnd): void;
}

export interface ConversationHost {
  /** Runs `answer` once, within the 10 s that devices wait; nothing else is sent before it. */
  open(request: ConversationRequest, answer: (hello: HelloAnswer) => void): Conversation;
}
