/** An order to the subscriber process. It ends the subscriptions of the order before. */
export interface SubscriberOrder {
  readonly httpUrl: string;
  readonly adminKey: string;
  /** Devices with one subscriber each. */
  readonly deviceIds: readonly string[];
  /** Number of subscribers to all events, each with its own connection. */
  readonly unfiltered: number;
}

/** Counts of the subscribers of the last order. */
export interface SubscriberNews {
  /** Messages with an event. */
  readonly received: number;
  /** Unexpected ends of subscriptions and connections, and unexpected messages; 0 is expected. */
  readonly failed: number;
  /** Subscriptions that have received an event. */
  readonly served: number;
}
