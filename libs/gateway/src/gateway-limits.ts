/** Every limit of the gateway, with its unit and reason. Session limits are in libs/session. */

export interface GatewayLimits {
  /** Live sessions in this process. Each needs a socket, and a process may open 20,000 files. */
  readonly sessionsMax: number;
  /** Connections at once that have not authenticated: as many as a fleet opens after a restart. */
  readonly unprovenConnectionsMax: number;
  /** Unauthenticated connections of one address: more than a hall of boards behind a proxy. */
  readonly unprovenPerAddressMax: number;
  /** New connections per second after a burst of the above: twice what one core accepts. */
  readonly connectionsPerSecondMax: number;
  /**
   * Time from accept to CONNECT, from upgrade to hello, from CONNACK to the subscription of a
   * microcontroller, ms. Devices give up after 10 s. [xiaozhi §1.3]
   */
  readonly introductionTimeoutMs: number;
  /** Time for checking credentials, ms: less than the 10 s that devices wait. [xiaozhi §2.2] */
  readonly authTimeoutMs: number;
  /** A whole MQTT packet before CONNACK, bytes. Ids have 60 characters, passwords 44. */
  readonly unprovenPacketBytesMax: number;
  /** Messages per connection on forbidden topics, before the connection is cut. */
  readonly forbiddenTopicsMax: number;
  /** A whole message after CONNACK, bytes. A page of tools has about 8 KB. [xiaozhi §9, 14] */
  readonly messageBytesMax: number;
  /** Fragments of one WebSocket message, which count as one. Devices send one, proxies a few. */
  readonly messageFragmentsMax: number;
  /**
   * Packets and frames of one device, per second and in a burst. Speech has up to 50 frames a
   * second, a list of tools 64 pages. A device that sends more is read more slowly.
   */
  readonly messagesPerSecondMax: number;
  readonly messagesBurst: number;
  /** Bytes of one device: four times what speech needs, three times the longest list of tools. */
  readonly bytesPerSecondMax: number;
  readonly bytesBurst: number;
  /** Time that a device would need to catch up, ms, before it is cut; less than its keep-alive. */
  readonly trafficDebtMsMax: number;
  /** A device that was not throttled for this long begins a new episode, ms: one event each. */
  readonly trafficEpisodeMs: number;
  /**
   * Connects of one device before it must wait; a takeover counts twice; 0 for no limit. A quarter
   * of an hour of bad Wi-Fi causes fewer.
   */
  readonly reconnectsMax: number;
  /** Time after which one connect is forgotten, ms: crash loops take 10 to 30 s. [xiaozhi §2.3] */
  readonly reconnectEveryMs: number;
  /** Wait of a flapping device, ms: the first one, doubled with each return, and the longest. */
  readonly flappingBackOffMs: number;
  readonly flappingBackOffMsMax: number;
  /** Devices whose connects are remembered: more than sessions are allowed. */
  readonly flappingDevicesMax: number;
  /**
   * Sessions per second that greet their devices. Missed steps are not made up for: a busy process
   * greets fewer, so that calls get their turn while a fleet reconnects.
   */
  readonly discoveriesPerSecondMax: number;
  /** The same while there are no calls: more than a process can do, in short steps. */
  readonly discoveriesPerSecondQuietMax: number;
  /** There are no calls if the last one is this long ago, ms: longer than the pauses of a job. */
  readonly quietAfterMs: number;
  /** Bytes waiting for a device that does not read; beyond it nothing more is accepted. */
  readonly unsentBytesMax: number;
  /** Ping interval of WebSockets, ms; one that stays silent for a whole interval is cut. */
  readonly pingIntervalMs: number;
  /** Timeout of the closing handshake, ms. These devices never finish it. [xiaozhi §1.5] */
  readonly closingTimeoutMs: number;
  /**
   * A conversation without voice service ends after this long without calls, ms; 0: never.
   * Calls that waited for it come at once.
   */
  readonly voicelessIdleMs: number;
  /** Text of parsed tool pages kept for all sessions, bytes: a few hundred firmwares. */
  readonly toolPageCacheBytesMax: number;
  /** Notifications of one device written as events, per minute: an event costs a row. */
  readonly notificationsPerMinuteMax: number;
  /**
   * Conversations that one MQTT connection may open, per minute: each connects to a voice server. A
   * person who wakes and aborts a device opens one every second or two.
   */
  readonly conversationsPerMinuteMax: number;
  /** Events about conversations of one device, per minute: a hello over MQTT causes two. */
  readonly conversationEventsPerMinuteMax: number;
  /** JSON of a notification's params kept in its event, bytes. */
  readonly notificationBytesMax: number;
  /** Microcontrollers that this process dials: each needs a socket. */
  readonly dialledDevicesMax: number;
  /** Interval of checks for other devices to dial, ms. */
  readonly dialRoundMs: number;
  /** Time for a board to take the connection, ms. */
  readonly dialTimeoutMs: number;
  /** A board has booted after this long without output, ms; and at the latest. [mcpu §1.4] */
  readonly dialQuietMs: number;
  readonly dialQuietMsMax: number;
  /** A connection that lasted this long was successful, ms: the next wait is short again. */
  readonly dialProvenMs: number;
  /** Wait before a lost board is dialled again, ms: the first, and the longest after doubling. */
  readonly redialDelayMs: number;
  readonly redialDelayMsMax: number;
  /** Interval of checks for microcontrollers whose samples are due, ms. */
  readonly pollStepMs: number;
  /** Shortest poll interval of a tool or ring, ms: a poll occupies the board and costs a row. */
  readonly pollIntervalMsMin: number;
  /** Polled tools and rings of one microcontroller; usual firmware has 24 tools and 8 rings. */
  readonly pollsPerDeviceMax: number;
  /** Concurrent polls: at the usual 20 ms each that is 3,000 a second. */
  readonly pollCallsMax: number;
  /** Timeout of a poll, ms. */
  readonly pollTimeoutMs: number;
  /** Samples in one event: more than a ring holds. */
  readonly samplesPerEventMax: number;
  /** JSON of a polled value other than a series, bytes; it is stored in its event. */
  readonly sampleBytesMax: number;
  /** Events with samples of one microcontroller, per minute: an event costs a row. */
  readonly sampleEventsPerMinuteMax: number;
  /** A silent microcontroller is polled after this long, ms: a lost link may show no other sign. */
  readonly idleProbeMs: number;
  /** Unanswered polls in a row until the session ends: one may come while a tool runs. */
  readonly idleMissesMax: number;
  /** A device is asked for its state this often, seconds; 0 for never. */
  readonly statusIntervalSeconds: number;
  /** Time from a call that set something to a status call, ms: brightness fades. [xiaozhi §5.1] */
  readonly statusFollowUpMs: number;
  /** Concurrent status calls. At the usual 50 ms each that is 600 a second. */
  readonly statusCallsMax: number;
  /** Timeout of a status call, ms: a new conversation holds it back for 10 s. [xiaozhi §2.4] */
  readonly statusTimeoutMs: number;
  /** Status calls per second: after a job over ten thousand devices they take a minute. */
  readonly statusCallsPerSecondMax: number;
  /** Calls per second from which the lower limit holds for status calls in the next second. */
  readonly statusBusyCallsPerSecond: number;
  readonly statusCallsPerSecondBusyMax: number;
  /** JSON of a stored state, bytes. Known boards report about 300. */
  readonly reportedStateBytesMax: number;
  /**
   * Longest wait for the first listing before a session is written, ms: a returning fleet needs
   * one write per device. Less than a reconnect takes, because writes number the sessions.
   */
  readonly readinessWaitMs: number;
  /** Time to the second listing after an empty or failed first one, ms: some boards are late. */
  readonly listingRetryMs: number;
  /** Pause between attempts of a write to PostgreSQL, ms: first and longest. */
  readonly retryDelayMs: number;
  readonly retryDelayMsMax: number;
  /** How long `stop` waits for the last rows of its sessions, ms. */
  readonly stopTimeoutMs: number;
}

export const defaultGatewayLimits: GatewayLimits = {
  sessionsMax: 18_000,
  unprovenConnectionsMax: 8_000,
  unprovenPerAddressMax: 6_000,
  connectionsPerSecondMax: 5_000,
  introductionTimeoutMs: 10_000,
  authTimeoutMs: 5_000,
  unprovenPacketBytesMax: 4 * 1024,
  forbiddenTopicsMax: 20,
  messageBytesMax: 64 * 1024,
  messageFragmentsMax: 128,
  messagesPerSecondMax: 200,
  messagesBurst: 2_000,
  bytesPerSecondMax: 256 * 1024,
  bytesBurst: 2 * 1024 * 1024,
  trafficDebtMsMax: 10_000,
  trafficEpisodeMs: 60_000,
  reconnectsMax: 12,
  reconnectEveryMs: 30_000,
  flappingBackOffMs: 10_000,
  flappingBackOffMsMax: 300_000,
  flappingDevicesMax: 20_000,
  discoveriesPerSecondMax: 3_000,
  discoveriesPerSecondQuietMax: 10_000,
  quietAfterMs: 2_000,
  unsentBytesMax: 256 * 1024,
  pingIntervalMs: 30_000,
  closingTimeoutMs: 1_000,
  voicelessIdleMs: 8_000,
  toolPageCacheBytesMax: 8 * 1024 * 1024,
  notificationsPerMinuteMax: 60,
  conversationsPerMinuteMax: 60,
  conversationEventsPerMinuteMax: 60,
  notificationBytesMax: 8 * 1024,
  dialledDevicesMax: 5_000,
  dialRoundMs: 2_000,
  dialTimeoutMs: 5_000,
  dialQuietMs: 300,
  dialQuietMsMax: 2_500,
  dialProvenMs: 60_000,
  redialDelayMs: 5_000,
  redialDelayMsMax: 5 * 60_000,
  pollStepMs: 250,
  pollIntervalMsMin: 1_000,
  pollsPerDeviceMax: 32,
  pollCallsMax: 64,
  pollTimeoutMs: 5_000,
  samplesPerEventMax: 400,
  sampleBytesMax: 4 * 1024,
  sampleEventsPerMinuteMax: 60,
  idleProbeMs: 30_000,
  idleMissesMax: 2,
  statusIntervalSeconds: 300,
  statusFollowUpMs: 600,
  statusCallsMax: 32,
  statusTimeoutMs: 12_000,
  statusCallsPerSecondMax: 200,
  statusBusyCallsPerSecond: 1_000,
  statusCallsPerSecondBusyMax: 20,
  reportedStateBytesMax: 4 * 1024,
  readinessWaitMs: 1_000,
  listingRetryMs: 30_000,
  retryDelayMs: 250,
  retryDelayMsMax: 5_000,
  stopTimeoutMs: 5_000,
};
