/** Limits of relayed conversations, each with its unit and reason. */

export interface VoiceLimits {
  /** Relayed conversations in this process. Each needs another socket to a voice server. */
  readonly conversationsMax: number;
  /** Time for one voice server to accept the connection and answer the hello, ms. */
  readonly backendTimeoutMs: number;
  /** Time for all attempts, ms: the device gives up 10 s after its hello. [xiaozhi §1.3] */
  readonly openingTimeoutMs: number;
  /** Time from a bind prompt to the second hello, ms: the server may look up the device slowly. */
  readonly helloRepeatMs: number;
  /** How long a voice server that failed is tried last, ms. */
  readonly backendRestMs: number;
  /** A message of a voice server, bytes: glyphs of a subtitle have up to 90 KB. */
  readonly backendMessageBytesMax: number;
  /**
   * Bytes waiting for a voice server that does not read: about 10 s of speech. Later data is
   * dropped and counted.
   */
  readonly backendUnsentBytesMax: number;
  /** How long a voice server may leave that many bytes unread, ms, before the conversation ends. */
  readonly backendStallMsMax: number;
  /** Texts of a voice server, per second and in a burst: a subtitle per sentence, some calls. */
  readonly backendTextsPerSecondMax: number;
  readonly backendTextsBurst: number;
  /** Waiting or running requests of a voice server to one device, which answers one at a time. */
  readonly backendRequestsMax: number;
  /** The time for such a request, ms, including earlier ones of the device. */
  readonly backendCallTimeoutMs: number;
  /**
   * Queued frames and texts for a device: 15 s of speech. At this limit the voice server pauses
   * until half have left.
   */
  readonly queuedItemsMax: number;
  /** The same in bytes: two of the longest messages. */
  readonly queuedBytesMax: number;
  /** Packets sent to a device ahead of playback, against jitter; its queue holds 40. */
  readonly leadFrames: number;
  /** Unsent bytes to a device at which its voice server pauses: a second or two of speech. */
  readonly deviceUnsentBytesMax: number;
  /** The interval between checks whether such a device has caught up, ms. */
  readonly drainPollMs: number;
  /** A conversation without activity ends after this time, ms, as on devices. [xiaozhi §1.5] */
  readonly idleMs: number;
  /** How long a WebSocket whose conversation has ended stays open for calls of its device, ms. */
  readonly lastCallsMsMax: number;
  /** The longest conversation, ms. */
  readonly lengthMsMax: number;
  /** Consecutive UDP packets that may be lost: a minute of speech. */
  readonly packetsAheadMax: number;
  /**
   * Pings of a voice server, ms. One that answers none until the next is gone without notice, and
   * its conversation ends.
   */
  readonly backendPingMs: number;
  /** The time for the closing handshake with a voice server, ms. */
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
  lastCallsMsMax: 5_000,
  lengthMsMax: 4 * 60 * 60_000,
  packetsAheadMax: 1_000,
  backendPingMs: 15_000,
  closingTimeoutMs: 1_000,
};
