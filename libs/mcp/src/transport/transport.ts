/**
 * The byte path under a session, and all that a session knows of the outside: three verbs and three callbacks. Implementations carry whole text
 * messages; framing, sockets and credentials are theirs alone.
 */

/** Why a transport ended, in the words of events and session records. */
export type CloseReason =
  | 'device_closed' // The device said goodbye at protocol level (MQTT DISCONNECT, WebSocket close frame).
  | 'connection_lost' // The socket ended without one, or the keep-alive ran out.
  | 'taken_over' // A newer connection of the same device replaced this one.
  | 'protocol_error' // The device broke a rule of the transport.
  | 'traffic_exceeded' // The device sent far more than it may.
  | 'greeting_failed' // The device did not answer the greeting.
  | 'unresponsive' // A microcontroller did not answer when it was asked whether it is there.
  | 'no_voice' // A conversation over WebSocket, of a hub that has no voice service, was idle.
  | 'conversation_ended' // A conversation over WebSocket was ended by the voice server, or for its sake.
  | 'hub_stopping'
  | 'hub_closed'; // The hub decided to, for example because an operator asked.

/**
 * Order of use: set the callbacks, `start()`, then `send()` any number of times, then `close()`. After `close()` or `onclose` nothing is
 * delivered and `send` returns false. `onclose` comes exactly once, whoever closed. Callbacks never run inside `send` or `start`.
 */
export interface Transport {
  /** Begins delivery of messages. */
  start(): void;
  /**
   * Hands one text message to the socket. False means that not one byte was accepted (closed, or the peer does not drain). With `isMoreToCome` the next message follows
   * before this turn is over, and a transport may let this one wait for it: one packet on the network is cheaper than two.
   */
  send(text: string, isMoreToCome?: boolean): boolean;
  /** Ends the path. Idempotent; never throws. */
  close(reason: CloseReason): void;
  onmessage: ((text: string) => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onclose: ((reason: CloseReason) => void) | undefined;
}
