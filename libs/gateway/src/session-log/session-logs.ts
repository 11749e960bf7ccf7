/**
 * The logs of sessions that people read now: every message of a device in both directions, without
 * secrets, on the feed. All gateways keep the request, so that a log follows the device.
 */
import { maskMessage } from '@flotilla/mcp';
import type { DeviceId, DialectName } from '@flotilla/mcp';
import type { Bus, SessionLogKind } from '@flotilla/bus';
import { maskedAddresses } from '@flotilla/registry';
import type { Clock, MessageTap } from '@flotilla/session';
import type { GatewayLogger } from '../gateway-logger.js';
import { TokenBucket } from '../overload/token-bucket.js';
import type { BucketRate } from '../overload/token-bucket.js';
import { familyTraits } from '../sessions/family-traits.js';

/** Devices at once. More than a hub lets people read. */
const DEVICES_MAX = 100;
/** A text with the list of tools of most boards fits, in UTF-16 code units. */
const TEXT_MAX = 16 * 1024;
/** A device that sends more is not readable for people; the rest is counted. */
const messageRate: BucketRate = { burst: 200, perSecond: 50 };
const byteRate: BucketRate = { burst: 1024 * 1024, perSecond: 128 * 1024 };
/** Longest time of a request, ms: readers renew it. */
const WANTED_MS_MAX = 60_000;
const DROPPED_REPORT_MS = 1_000;

/** A live session, as far as its log needs it. */
export interface LoggedSession {
  readonly deviceId: DeviceId;
  readonly dialect: DialectName;
  /** What is known at its begin, such as its transport and address. */
  readonly opening: string;
  /** The message with which the device opened the connection, if it sent one before the session. */
  readonly hello: string | undefined;
  tap(tap: MessageTap | undefined): void;
}

interface SessionLogsDeps {
  readonly feed: Pick<Bus['feed'], 'publish' | 'subscribe'>;
  readonly clock: Clock;
  readonly logger: GatewayLogger;
}

interface DeviceLog {
  untilAt: number;
  cancelEnd: () => void;
  cancelReport: (() => void) | undefined;
  dropped: number;
  readonly messages: TokenBucket;
  readonly bytes: TokenBucket;
}

export class SessionLogs {
  readonly #logs = new Map<DeviceId, DeviceLog>();
  #unsubscribe: () => void = () => undefined;

  constructor(
    private readonly deps: SessionLogsDeps,
    private readonly sessionOf: (deviceId: DeviceId) => LoggedSession | undefined,
  ) {}

  start(): void {
    this.#unsubscribe = this.deps.feed.subscribe('sessionLogWanted', ({ deviceId, forMs }) =>
      this.#want(deviceId, Math.min(forMs, WANTED_MS_MAX)),
    );
  }

  stop(): void {
    this.#unsubscribe();
    for (const deviceId of [...this.#logs.keys()]) this.#end(deviceId);
  }

  /** Devices whose sessions are logged now. */
  get size(): number {
    return this.#logs.size;
  }

  /** A session begins. Without a reader of its log this is one look-up. */
  opened(session: LoggedSession): void {
    const log = this.#logs.get(session.deviceId);
    if (log === undefined) return;
    this.#note(session.deviceId, log, 'OPENED', session.opening);
    this.#tap(session, log);
    if (session.hello !== undefined) this.#noteMessage(session, log, 'RECEIVED', session.hello);
  }

  closed(deviceId: DeviceId, reason: string): void {
    const log = this.#logs.get(deviceId);
    if (log !== undefined) this.#note(deviceId, log, 'CLOSED', reason);
  }

  #want(deviceId: DeviceId, forMs: number): void {
    const now = this.deps.clock.now();
    const log = this.#logs.get(deviceId) ?? this.#open(deviceId, now);
    if (log === undefined) return;
    // A later time than that of any reader is from before the clock was set back.
    log.untilAt = Math.max(log.untilAt > now + WANTED_MS_MAX ? now : log.untilAt, now + forMs);
    log.cancelEnd();
    log.cancelEnd = this.deps.clock.setTimer(log.untilAt - now, () => this.#end(deviceId));
  }

  #open(deviceId: DeviceId, now: number): DeviceLog | undefined {
    if (this.#logs.size >= DEVICES_MAX) {
      this.deps.logger.warn({ deviceId, max: DEVICES_MAX }, 'too many logs of sessions are open; this one stays empty');
      return undefined;
    }
    const log: DeviceLog = {
      untilAt: now,
      cancelEnd: () => undefined,
      cancelReport: undefined,
      dropped: 0,
      messages: new TokenBucket(messageRate, now),
      bytes: new TokenBucket(byteRate, now),
    };
    this.#logs.set(deviceId, log);
    const session = this.sessionOf(deviceId);
    if (session !== undefined) this.#tap(session, log);
    return log;
  }

  #end(deviceId: DeviceId): void {
    const log = this.#logs.get(deviceId);
    if (log === undefined) return;
    this.#logs.delete(deviceId);
    log.cancelEnd();
    log.cancelReport?.();
    this.sessionOf(deviceId)?.tap(undefined);
  }

  #tap(session: LoggedSession, log: DeviceLog): void {
    session.tap((direction, text) => this.#noteMessage(session, log, direction, text));
  }

  /** Never throws, because it runs between the device and its session. */
  #noteMessage({ deviceId, dialect }: LoggedSession, log: DeviceLog, kind: 'SENT' | 'RECEIVED', text: string): void {
    const now = this.deps.clock.now();
    const bytes = Buffer.byteLength(text);
    if (log.bytes.refill(byteRate, now) < bytes || !log.messages.takeOne(messageRate, now))
      return this.#drop(deviceId, log);
    log.bytes.take(bytes);
    try {
      const { hasPinNumbers } = familyTraits[dialect];
      this.#note(deviceId, log, kind, maskMessage(text, { hasPinNumbers, maskText: maskedAddresses }), bytes);
    } catch (error) {
      this.deps.logger.error({ err: error, deviceId }, 'could not write a message to the log of a session');
      this.#drop(deviceId, log);
    }
  }

  #drop(deviceId: DeviceId, log: DeviceLog): void {
    log.dropped += 1;
    log.cancelReport ??= this.deps.clock.setTimer(DROPPED_REPORT_MS, () => {
      log.cancelReport = undefined;
      const { dropped } = log;
      log.dropped = 0;
      this.#note(deviceId, log, 'DROPPED', String(dropped));
    });
  }

  #note(deviceId: DeviceId, log: DeviceLog, kind: SessionLogKind, text: string, bytes = Buffer.byteLength(text)): void {
    if (this.#logs.get(deviceId) !== log) return;
    this.deps.feed.publish('sessionLog', {
      deviceId,
      at: this.deps.clock.now(),
      kind,
      bytes,
      text: text.slice(0, TEXT_MAX),
      isTruncated: text.length > TEXT_MAX,
    });
  }
}
