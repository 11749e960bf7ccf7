/**
 * The live feed: notifications for subscriptions and for waiting workers. At most once, unordered
 * between topics; PostgreSQL holds the truth.
 */
import type { CallId, CallOutcome, DeviceId, JobId } from '@flotilla/mcp';

/** An event as written to PostgreSQL, so that a subscriber needs no query. */
export interface FeedEvent {
  readonly id: string;
  readonly type: string;
  readonly deviceId: DeviceId | undefined;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Devices in one message of the topic `decided`: about 10 kB. */
export const decidedPerMessageMax = 500;

/** What one entry of the log of a session is about. */
export type SessionLogKind = 'SENT' | 'RECEIVED' | 'OPENED' | 'CLOSED' | 'DROPPED';

/** One entry of the log of a session, without secrets and with a bounded size. */
export interface SessionLogEntry {
  readonly deviceId: DeviceId;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  readonly kind: SessionLogKind;
  /** The message, or what happened to the session. */
  readonly text: string;
  /** Bytes of the whole message. */
  readonly bytes: number;
  readonly isTruncated: boolean;
}

/** Messages by topic. */
export interface FeedTopics {
  /**
   * Presence, tool set, version, name or tags of a device changed; `presence` only if it changed.
   */
  readonly device: { readonly deviceId: DeviceId; readonly presence?: 'ONLINE' | 'OFFLINE' };
  /** A connection of the device got this epoch: a gateway with an older one ends it. */
  readonly session: { readonly deviceId: DeviceId; readonly epoch: number };
  /** The credential of the device is no longer valid: the gateway with its connection ends it. */
  readonly expelled: { readonly deviceId: DeviceId };
  /** The device asked at its OTA address, so it started: faults of its connection are over. */
  readonly restarted: { readonly deviceId: DeviceId };
  readonly event: FeedEvent;
  /** The gateways write the log of the device's sessions to the feed for this time, ms. */
  readonly sessionLogWanted: { readonly deviceId: DeviceId; readonly forMs: number };
  readonly sessionLog: SessionLogEntry;
  /** State or counters of a job changed. */
  readonly job: { readonly jobId: JobId };
  /** These targets of a job were decided: at most `decidedPerMessageMax`. */
  readonly decided: { readonly jobId: JobId; readonly deviceIds: readonly DeviceId[] };
  /** A desired state was changed, or devices moved between its states. */
  readonly desiredState: { readonly id: string };
  /** A tool that desired states set was called by another caller. */
  readonly called: { readonly deviceId: DeviceId; readonly tool: string };
  /** A tool policy was set or deleted. */
  readonly policy: { readonly pattern: string };
  /** A recording rule was saved or deleted. */
  readonly recordingRules: { readonly ruleId: string };
  /** The rights of `KEY:<id>` or `USER:<id>` changed: revoked, signed out or disabled. */
  readonly access: { readonly principal: string };
  /** A device answered a call that had timed out, in the session of the call. */
  readonly lateAnswer: { readonly callId: CallId; readonly outcome: CallOutcome };
}

export type FeedTopic = keyof FeedTopics;

export interface FeedListening {
  /** Gathers messages for this time, ms, for a listener that handles many at once more cheaply. */
  readonly gatherMs?: number;
}

export interface EventFeed {
  /** Never throws and never waits: a slow feed drops and counts messages. */
  publish<Topic extends FeedTopic>(topic: Topic, message: FeedTopics[Topic]): void;
  /** Returns a function that ends the subscription. */
  subscribe<Topic extends FeedTopic>(
    topic: Topic,
    listener: (message: FeedTopics[Topic]) => void,
    listening?: FeedListening,
  ): () => void;
}
