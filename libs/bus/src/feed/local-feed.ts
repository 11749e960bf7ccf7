/**
 * The feed within one process. Listeners run later and independently: none can delay the publisher,
 * and one that throws affects no other.
 */
import type { BusLogger } from '../bus-logger.js';
import type { EventFeed, FeedListening, FeedTopic, FeedTopics } from './feed.js';

/**
 * Waiting messages of one subscriber: a second of the busiest measured fleet. Beyond this the
 * newest are dropped.
 */
const SUBSCRIBER_MESSAGES_MAX = 10_000;

/** Messages for one subscriber before the event loop continues with sockets. */
const MESSAGES_PER_TURN = 256;

class Subscriber<Message> {
  readonly #waiting: Message[] = [];
  #isScheduled = false;
  #isEnded = false;

  constructor(
    readonly listener: (message: Message) => void,
    readonly logger: BusLogger,
    readonly onDropped: () => void,
    readonly gatherMs: number,
  ) {}

  offer(message: Message): void {
    if (this.#waiting.length >= SUBSCRIBER_MESSAGES_MAX) {
      this.onDropped();
      return;
    }
    this.#waiting.push(message);
    if (this.#isScheduled) return;
    if (this.gatherMs > 0) {
      this.#isScheduled = true;
      setTimeout(() => this.#deliver(), this.gatherMs).unref();
    } else this.#deliverSoon();
  }

  end(): void {
    this.#isEnded = true;
    this.#waiting.length = 0;
  }

  #deliverSoon(): void {
    this.#isScheduled = true;
    setImmediate(() => this.#deliver());
  }

  #deliver(): void {
    this.#isScheduled = false;
    for (const message of this.#waiting.splice(0, MESSAGES_PER_TURN)) {
      if (this.#isEnded) return;
      try {
        this.listener(message);
      } catch (error) {
        this.logger.error({ err: error }, 'a feed listener threw');
      }
    }
    if (this.#waiting.length > 0 && !this.#isScheduled) this.#deliverSoon();
  }
}

type SubscribersByTopic = { readonly [Topic in FeedTopic]: Set<Subscriber<FeedTopics[Topic]>> };

export class LocalFeed implements EventFeed {
  readonly #subscribers: SubscribersByTopic = {
    device: new Set(),
    session: new Set(),
    expelled: new Set(),
    restarted: new Set(),
    event: new Set(),
    sessionLogWanted: new Set(),
    sessionLog: new Set(),
    job: new Set(),
    decided: new Set(),
    policy: new Set(),
    desiredState: new Set(),
    called: new Set(),
    recordingRules: new Set(),
    access: new Set(),
    lateAnswer: new Set(),
  };
  #droppedTotal = 0;

  constructor(private readonly logger: BusLogger) {}

  /** Messages dropped for slow subscribers. */
  get droppedTotal(): number {
    return this.#droppedTotal;
  }

  publish<Topic extends FeedTopic>(topic: Topic, message: FeedTopics[Topic]): void {
    for (const subscriber of this.#subscribers[topic]) subscriber.offer(message);
  }

  subscribe<Topic extends FeedTopic>(
    topic: Topic,
    listener: (message: FeedTopics[Topic]) => void,
    { gatherMs = 0 }: FeedListening = {},
  ): () => void {
    const subscribers = this.#subscribers[topic];
    const subscriber = new Subscriber(listener, this.logger, () => this.#countDropped(topic), gatherMs);
    subscribers.add(subscriber);
    return () => {
      subscriber.end();
      subscribers.delete(subscriber);
    };
  }

  close(): void {
    for (const subscribers of Object.values(this.#subscribers)) subscribers.clear();
  }

  #countDropped(topic: FeedTopic): void {
    this.#droppedTotal += 1;
    // Logs the first of each ten thousand, so that the log is not flooded.
    if (this.#droppedTotal % SUBSCRIBER_MESSAGES_MAX === 1) {
      this.logger.warn({ topic, droppedTotal: this.#droppedTotal }, 'a feed subscriber is too slow: messages dropped');
    }
  }
}
