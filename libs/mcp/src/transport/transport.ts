/**
 * The byte path under a session: three methods and three callbacks. Implementations carry whole
 * text messages and hide framing, sockets and credentials. Binary framing is also hidden there: a
 * frame becomes the text of one message. Audio beside messages is an `AudioPath` of libs/gateway.
 */

/**
 * Why a transport ended, as events and session records name it. read-evidence.sql of libs/registry
 * lists those that mean that the device left by itself.
 */
export type CloseReason =
  | 'device_closed' // The device ended the protocol (MQTT DISCONNECT, WebSocket close frame).
  | 'connection_lost' // The socket ended without that, or the keep-alive timed out.
  | 'taken_over' // A newer connection of the same device replaced this one.
  | 'protocol_error' // The device broke a rule of the transport.
  | 'traffic_exceeded' // The device exceeded its traffic limit.
  | 'greeting_failed' // The device did not answer the greeting.
  | 'unresponsive' // A microcontroller did not answer a liveness check.
  | 'no_voice' // A conversation over WebSocket, on a hub without a voice service, was idle.
  | 'conversation_ended' // A voice server ended a conversation over WebSocket, or it ended because of the voice server.
  | 'hub_stopping'
  | 'hub_closed'; // The hub closed it, for example at an operator's request.

/**
 * Order of use: set the callbacks, `start()`, `send()`, `close()`. `onclose` runs exactly once, and
 * nothing is delivered after it. No callback runs inside `send` or `start`.
 */
export interface Transport {
  /** Begins delivery of messages. */
  start(): void;
  /**
   * Hands one text message to the socket. False: not one byte was accepted. `isMoreToCome`: another
   * message follows in this turn, so that both may share a packet.
   */
  send(text: string, isMoreToCome?: boolean): boolean;
  /** Ends the path. Idempotent; never throws. */
  close(reason: CloseReason): void;
  onmessage: ((text: string) => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onclose: ((reason: CloseReason) => void) | undefined;
}
