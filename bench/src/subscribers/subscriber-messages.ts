/** To the process of the subscribers: whom to ask, and for what. */
export interface SubscriberOrder {
  readonly httpUrl: string;
  readonly adminKey: string;
  /** A subscriber to the events of each. */
  readonly deviceIds: readonly string[];
  /** Subscribers to all events, each on a connection of its own. */
  readonly unfiltered: number;
}

/** So far. */
export interface SubscriberNews {
  readonly received: number;
  /** Subscriptions that have ended, with an error or without: none should. */
  readonly ended: number;
}
