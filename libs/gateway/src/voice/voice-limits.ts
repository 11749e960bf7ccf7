/** Every bound of relayed conversations, with its unit and its reason. */

export interface VoiceLimits {
  /** Relayed conversations in this process: each is a socket to a voice server beside the device's own. */
  readonly conversationsMax: number;
  /** Time for one voice server to take the connection and to answer the hello, ms. */
  readonly backendTimeoutMs: number;
  /** Time for all of them together, ms: the device gives up 10 s after its hello. [xiaozhi §1.3] */
  readonly openingTimeoutMs: number;
  /** Time from a bind prompt to the second hello, ms: the server may look the device up slowly. */
  readonly helloRepeatMs: number;
  /** A voice server that failed is asked last for so long, ms. */
  readonly backendRestMs: number;
  /** A message of a voice server, bytes: speech comes in frames of some hundred, and glyphs of a subtitle in up to 90 KB. */
  readonly backendMessageBytesMax: number;
  /** Bytes that wait for a voice server that does not read: some 10 s of speech. What comes then is dropped and counted. */
  readonly backendUnsentBytesMax: number;
  /** How long a voice server may leave that many unread, ms, before the conversation ends. */
  readonly backendStallMsMax: number;
  /** Texts of a voice server, per second and at once: subtitles come one a sentence, and calls of tools a few a turn. */
  readonly backendTextsPerSecondMax: number;
  readonly backendTextsBurst: number;
  /** Requests of a voice server to one device that wait or run: it would not learn more from more, the device answers one at a time. */
  readonly backendRequestsMax: number;
  /** How long such a request may take, ms, the device's earlier ones included. */
  readonly backendCallTimeoutMs: number;
  /** Frames and texts for a device that wait for their turn; from there on the voice server is not read until half of them have gone. 15 s of speech. */
  readonly queuedItemsMax: number;
  /** The same in bytes: two of the longest messages. */
  readonly queuedBytesMax: number;
  /**
   * Packets that go to a device ahead of the time when they are played. What comes in fits and starts of less than that is passed on as it comes; the
   * device's own queue holds 40.
   */
  readonly leadFrames: number;
  /** Unsent bytes of a WebSocket device from which on its voice server is not read: a second or two of speech. */
  readonly deviceUnsentBytesMax: number;
  /** How often it is looked whether such a device has caught up, ms. */
  readonly drainPollMs: number;
  /** A conversation in which neither side said anything for so long has ended, ms: devices count it so as well. [xiaozhi §1.5] */
  readonly idleMs: number;
  /** The longest conversation, ms. */
  readonly lengthMsMax: number;
  /** UDP packets in a row that may get lost: a minute of speech. */
  readonly packetsAheadMax: number;
  /** How long a closed connection to a voice server may take over its closing handshake, ms. */
  readonly closingTimeoutMs: number;
}

export const defaultVoiceLimits: VoiceLimits = {
  conversationsMax: 2_000,
  backendTimeoutMs: 3_000,
  openingTimeoutMs: 8_000,
  helloRepeatMs: 2_000,
  backendRestMs: 10_000,
  backendMessageBytesMax: 128 * 1024,
  backendUnsentBytesMax: 64 * 1024,
  backendStallMsMax: 5_000,
  backendTextsPerSecondMax: 50,
  backendTextsBurst: 200,
  backendRequestsMax: 16,
  backendCallTimeoutMs: 60_000,
  queuedItemsMax: 256,
  queuedBytesMax: 256 * 1024,
  leadFrames: 16,
  deviceUnsentBytesMax: 16 * 1024,
  drainPollMs: 20,
  idleMs: 120_000,
  lengthMsMax: 4 * 60 * 60_000,
  packetsAheadMax: 1_000,
  closingTimeoutMs: 1_000,
};
