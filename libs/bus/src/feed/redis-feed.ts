/**
 * The feed over Redis: subscribers of this process are notified directly, others through pub/sub.
 * Drops and counts messages when Redis cannot keep up.
 */
import type { BusLogger } from '../bus-logger.js';
import type { EventFeed, FeedListening, FeedTopic, FeedTopics } from './feed.js';
import { LocalFeed } from './local-feed.js';
import type { RedisLink } from '../redis/redis-link.js';
import { parseFeedMessage, writeFeedMessage } from '../redis/redis-messages.js';
import type { FeedMessage } from '../redis/redis-messages.js';

/** Messages that Redis has not acknowledged yet. Beyond this they are dropped. */
const UNACKNOWLEDGED_MAX = 10_000;

export class RedisFeed implements EventFeed {
  readonly #link: RedisLink;
  readonly #channelPrefix: string;
  readonly #logger: BusLogger;
  readonly #local: LocalFeed;
  readonly #localSubscribers: Record<FeedTopic, number> = {
    device: 0,
    session: 0,
    expelled: 0,
    restarted: 0,
    event: 0,
    sessionLogWanted: 0,
    sessionLog: 0,
    job: 0,
    decided: 0,
    policy: 0,
    desiredState: 0,
    called: 0,
    recordingRules: 0,
    access: 0,
    lateAnswer: 0,
  };
  #unacknowledged = 0;
  #droppedTotal = 0;

  constructor(link: RedisLink, logger: BusLogger) {
    this.#link = link;
    this.#channelPrefix = `${link.prefix}:feed:`;
    this.#logger = logger;
    this.#local = new LocalFeed(logger);
  }

  /** Messages dropped because Redis or a subscriber was too slow or unreachable. */
  get droppedTotal(): number {
    return this.#droppedTotal + this.#local.droppedTotal;
  }

  /** Resolves when messages of other processes arrive. */
  async open(): Promise<void> {
    const topics = Object.keys(this.#localSubscribers) as FeedTopic[];
    // A process without subscribers (a pure gateway) skips verification and parsing.
    const isWanted = (topic: FeedTopic) => () => this.#localSubscribers[topic] > 0;
    await Promise.all(
      topics.map((topic) =>
        this.#link.listen(this.#channelPrefix + topic, (text) => this.#onMessage(topic, text), isWanted(topic)),
      ),
    );
  }

  publish<Topic extends FeedTopic>(topic: Topic, message: FeedTopics[Topic]): void {
    this.#local.publish(topic, message);
    if (!this.#link.isReady || this.#unacknowledged >= UNACKNOWLEDGED_MAX) {
      this.#countDropped();
      return;
    }
    this.#unacknowledged += 1;
    this.#link
      .publish(this.#channelPrefix + topic, writeFeedMessage({ topic, message } as FeedMessage))
      .catch(() => this.#countDropped())
      .finally(() => (this.#unacknowledged -= 1));
  }

  subscribe<Topic extends FeedTopic>(
    topic: Topic,
    listener: (message: FeedTopics[Topic]) => void,
    listening?: FeedListening,
  ): () => void {
    const endLocal = this.#local.subscribe(topic, listener, listening);
    let isEnded = false;
    this.#localSubscribers[topic] += 1;
    return () => {
      endLocal();
      if (!isEnded) this.#localSubscribers[topic] -= 1;
      isEnded = true;
    };
  }

  close(): void {
    this.#local.close();
  }

  #onMessage(topic: FeedTopic, text: string): void {
    try {
      const parsed = parseFeedMessage(text);
      this.#local.publish(parsed.topic, parsed.message);
    } catch (error) {
      this.#logger.error({ err: error, topic }, 'could not process a feed message of another hub process');
    }
  }

  #countDropped(): void {
    this.#droppedTotal += 1;
    if (this.#droppedTotal % UNACKNOWLEDGED_MAX === 1) {
      this.#logger.warn({ droppedTotal: this.#droppedTotal }, 'the feed cannot reach Redis: messages dropped');
    }
  }
}
