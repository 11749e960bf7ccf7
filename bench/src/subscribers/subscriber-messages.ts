/** To the process of the subscribers: whom to ask, and for what. Another order ends what the one before began. */
export interface SubscriberOrder {
  readonly httpUrl: string;
  readonly adminKey: string;
  /** A subscriber to the events of each. */
  readonly deviceIds: readonly string[];
  /** Subscribers to all events, each on a connection of its own. */
  readonly unfiltered: number;
}

/** Of the subscribers that the last order made. */
export interface SubscriberNews {
  /** Messages with an event. */
  readonly received: number;
  /** Subscriptions and connections that have ended by themselves, and messages that are no event of theirs: there should be none. */
  readonly failed: number;
  /** Subscriptions that have been shown an event. */
  readonly served: number;
}
