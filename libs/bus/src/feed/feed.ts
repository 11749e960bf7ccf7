/** The live feed: what changed, for subscriptions and for workers that wait. At most once, unordered between topics; the truth is in PostgreSQL. */
import type { CallId, CallOutcome, DeviceId, JobId } from '@flotilla/mcp';

/** An event's row as it was written, so that a subscriber needs no query. */
export interface FeedEvent {
  readonly id: string;
  readonly type: string;
  readonly deviceId: DeviceId | undefined;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Devices in one message of the topic `decided`: some 10 kB. */
export const decidedPerMessageMax = 500;

/** Messages by topic. */
export interface FeedTopics {
  /** Presence, tool set, version, name or tags of a device changed; `presence` is set where that was it. */
  readonly device: { readonly deviceId: DeviceId; readonly presence?: 'ONLINE' | 'OFFLINE' };
  /** A connection of the device was given this epoch: a gateway that holds an older one ends it. */
  readonly session: { readonly deviceId: DeviceId; readonly epoch: number };
  /** What let the device in is void: whichever gateway holds a connection of it, greeted or not, ends it. */
  readonly expelled: { readonly deviceId: DeviceId };
  readonly event: FeedEvent;
  /** A job's state or counters changed. */
  readonly job: { readonly jobId: JobId };
  /** These targets of a job have just been decided: at most `decidedPerMessageMax`. */
  readonly decided: { readonly jobId: JobId; readonly deviceIds: readonly DeviceId[] };
  /** A tool policy was set or deleted. */
  readonly policy: { readonly pattern: string };
  /** What a key or a person (`KEY:<id>`, `USER:<id>`) may do has changed: it was revoked, signed out or disabled. */
  readonly access: { readonly principal: string };
  /** A device answered a call that was given up, on the session that the call was sent on. */
  readonly lateAnswer: { readonly callId: CallId; readonly outcome: CallOutcome };
}

export type FeedTopic = keyof FeedTopics;

export interface FeedListening {
  /** Ms that messages are gathered before the listener hears of them, one after the other: for one whose work costs less for many at once. */
  readonly gatherMs?: number;
}

export interface EventFeed {
  /** Never throws and never waits: a feed that cannot keep up drops and counts. */
  publish<Topic extends FeedTopic>(topic: Topic, message: FeedTopics[Topic]): void;
  /** Returns a function that ends the subscription. */
  subscribe<Topic extends FeedTopic>(
    topic: Topic,
    listener: (message: FeedTopics[Topic]) => void,
    listening?: FeedListening,
  ): () => void;
}
