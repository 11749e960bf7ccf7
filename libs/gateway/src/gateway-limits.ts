/** Every bound of the gateway, with its unit and its reason. Sessions have their own in libs/session. */

export interface GatewayLimits {
  /** Live sessions in this process: one socket each, and the usual limit of a process is 20,000 open files. */
  readonly sessionsMax: number;
  /** Connections that have not yet proved who they are, at once: what strangers can make us hold, and what a fleet brings after a restart. */
  readonly unprovenConnectionsMax: number;
  /** Of these, those of one address: leaves room for others, and is more than a hall of boards behind one proxy brings at once. */
  readonly unprovenPerAddressMax: number;
  /** New connections per second, once more than the number above came at once: about twice what a core accepts, so that only a flood notices it. */
  readonly connectionsPerSecondMax: number;
  /** Time from accept to CONNECT, from upgrade to the device's hello, and from CONNACK to the subscription of a microcontroller, ms. Devices give up after 10 s themselves. [xiaozhi §1.3] */
  readonly introductionTimeoutMs: number;
  /** Time for the check of credentials, ms: less than the 10 s that devices wait, so that they hear "come back later" and not silence. [xiaozhi §2.2] */
  readonly authTimeoutMs: number;
  /** A whole MQTT packet before CONNACK, bytes. A CONNECT has an id of 60 characters and a password of 44. */
  readonly unprovenPacketBytesMax: number;
  /** Messages on topics that are not the device's to publish on, per connection; after that many it is cut. A misconfigured device shows up in the counters first. */
  readonly forbiddenTopicsMax: number;
  /** A whole message from a device afterwards, bytes. A page of tools takes about 8 KB. [xiaozhi §9, 14] */
  readonly messageBytesMax: number;
  /** Packets and frames of one device, per second and at once: speech comes as up to 50 frames a second, a list of tools as 64 pages. Beyond, it is read more slowly. */
  readonly messagesPerSecondMax: number;
  readonly messagesBurst: number;
  /** Bytes of one device, per second and at once: four times what speech takes, and the longest list of tools thrice. */
  readonly bytesPerSecondMax: number;
  readonly bytesBurst: number;
  /** How far a device may be behind in paying for what it sent, ms, before it is cut: what comes slower than that is still heard within its keep-alive. */
  readonly trafficDebtMsMax: number;
  /** A device that was not slowed for that long and then is again begins a new episode, ms: one event each. */
  readonly trafficEpisodeMs: number;
  /** Connects of one device in a row, a takeover counting twice, until it is made to wait; 0 for no bound. A bad quarter of an hour of Wi-Fi brings fewer. */
  readonly reconnectsMax: number;
  /** One connect that often is forgotten, ms: a device that restarts after each crash comes every 10 to 30 s. [xiaozhi §2.3] */
  readonly reconnectEveryMs: number;
  /** How long a flapping device waits, ms: first, as long as it pauses itself, doubled with each return, and longest. */
  readonly flappingBackOffMs: number;
  readonly flappingBackOffMsMax: number;
  /** Devices whose connects are remembered: more than the sessions that fit. */
  readonly flappingDevicesMax: number;
  /** Sessions that greet their devices, per second, in steps of which none is made up for: a process that is late with its work greets fewer, so that calls find a turn while a fleet comes back. */
  readonly discoveriesPerSecondMax: number;
  /** The same while nobody calls devices: more than a process can do, in steps that are short beside what a first call may wait. */
  readonly discoveriesPerSecondQuietMax: number;
  /** Nobody calls devices when none was called for so long, ms: longer than the pause between two batches of a job or two calls of somebody who waits for each. */
  readonly quietAfterMs: number;
  /** Bytes waiting for a device that does not drain; beyond it nothing more is accepted for it. */
  readonly unsentBytesMax: number;
  /** A WebSocket is pinged this often, ms; one that stayed silent for a whole interval is cut. */
  readonly pingIntervalMs: number;
  /** How long a closed WebSocket may take over its closing handshake, ms. These devices never finish it. [xiaozhi §1.5] */
  readonly closingTimeoutMs: number;
  /** A WebSocket conversation without a voice service is ended when nothing was asked of the device for so long, ms: calls that waited for it come at once. 0: never. */
  readonly voicelessIdleMs: number;
  /** Text of parsed tool pages kept for all sessions, bytes: a few hundred firmwares. */
  readonly toolPageCacheBytesMax: number;
  /** Notifications of one device written as events, per minute: an event costs a row. */
  readonly notificationsPerMinuteMax: number;
  /** JSON of a notification's params kept in its event, bytes. */
  readonly notificationBytesMax: number;
  /** Microcontrollers that this process dials: each is a socket as long as it lives. */
  readonly dialledDevicesMax: number;
  /** How often it looks whether there are others to dial, ms. */
  readonly dialRoundMs: number;
  /** Time for a board to take the connection, ms. */
  readonly dialTimeoutMs: number;
  /** A board has booted when it has printed nothing for so long, ms; and at the latest after so long. [mcpu §1.4] */
  readonly dialQuietMs: number;
  readonly dialQuietMsMax: number;
  /** A connection that lasted so long was a good one, ms: the next wait is short again. */
  readonly dialProvenMs: number;
  /** Wait before a lost board is dialled again, ms: at most the first after one failure, doubling up to the other. */
  readonly redialDelayMs: number;
  readonly redialDelayMsMax: number;
  /** How often it is looked which microcontrollers are to be asked for their samples, ms. */
  readonly pollStepMs: number;
  /** Shortest period at which a tool or a ring of samples is asked for, ms, whatever the board wishes: a question occupies its main loop, and an answer is a row. */
  readonly pollIntervalMsMin: number;
  /** Tools and rings that are asked for on one microcontroller: a board of the usual firmware has 24 tools and 8 rings. */
  readonly pollsPerDeviceMax: number;
  /** Microcontrollers that are asked at a time: at the usual 20 ms each that is 3,000 a second, and silent ones leave room for others. */
  readonly pollCallsMax: number;
  /** How long such a question waits for its answer, ms. */
  readonly pollTimeoutMs: number;
  /** Samples that one event carries: more than a ring holds. */
  readonly samplesPerEventMax: number;
  /** JSON of a polled value that is no series, kept in its event, bytes. */
  readonly sampleBytesMax: number;
  /** Events with samples of one microcontroller, per minute: an event costs a row. */
  readonly sampleEventsPerMinuteMax: number;
  /** A microcontroller that was silent for so long is asked whether it is there, ms. A lost link over Wi-Fi shows no other sign for hours. */
  readonly idleProbeMs: number;
  /** Questions in a row that it may leave unanswered until its session ends: one may come while a tool holds its main loop. */
  readonly idleMissesMax: number;
  /** A device is asked for its state this often, seconds; 0 for never. */
  readonly statusIntervalSeconds: number;
  /** From a successful call that set something to a look at the state, ms: a backlight fades for up to half a second. [xiaozhi §5.1] */
  readonly statusFollowUpMs: number;
  /** Devices that are asked for their state at a time. At the usual 50 ms each that is 600 a second, and a fleet of silent ones costs no more. */
  readonly statusCallsMax: number;
  /** How long such a question waits for its answer, ms: a device that begins a conversation holds it back for 10 s. [xiaozhi §2.4] */
  readonly statusTimeoutMs: number;
  /** Devices asked for their state per second: after a job over ten thousand they are asked for a minute, and the job has the machine for itself. */
  readonly statusCallsPerSecondMax: number;
  /** Calls to devices in a second from which on only so few of them are asked in the next: in the middle of a job. */
  readonly statusBusyCallsPerSecond: number;
  readonly statusCallsPerSecondBusyMax: number;
  /** A state that is kept, bytes of JSON. Known boards report some 300. */
  readonly reportedStateBytesMax: number;
  /**
   * A session is written when its device has told what it can do, so that a fleet that comes back costs one write a device instead of two; at the latest after so long, ms. Less
   * than a device waits before it connects again, elsewhere perhaps: sessions are numbered in the order of these writes.
   */
  readonly readinessWaitMs: number;
  /** From a listing without any tool, the first of a session, to the second, ms: some boards register their tools only after they have connected. */
  readonly emptyListingRetryMs: number;
  /** Wait between two attempts of a write to PostgreSQL, ms: first and longest. */
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
  emptyListingRetryMs: 30_000,
  retryDelayMs: 250,
  retryDelayMsMax: 5_000,
  stopTimeoutMs: 5_000,
};
