/**
 * Delivers replies to other processes that failed at first, because Redis or the process was
 * unreachable. Retries each until it is delivered or too old. The receiver ignores duplicates.
 */
import type { BusLogger } from '../bus-logger.js';
import type { RedisLink } from '../redis/redis-link.js';

/** Waiting replies, as many as a gateway's calls in flight; beyond this the oldest is dropped. */
const WAITING_MAX = 10_000;
const TRY_EVERY_MS = 500;
/** Deliveries without a receiver until the asking process counts as ended. */
const UNDELIVERED_MAX = 10;

interface Reply {
  readonly channel: string;
  readonly text: string;
  /** ms since the Unix epoch. */
  readonly until: number;
  undelivered: number;
}

export class LateReplies {
  #waiting: Reply[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** The log has the present outage. */
  #isReported = false;

  constructor(
    private readonly link: Pick<RedisLink, 'publish'>,
    private readonly logger: BusLogger,
  ) {}

  /** `until`: when the other process gives up, ms since the Unix epoch. */
  send(channel: string, text: string, until: number): void {
    this.#try({ channel, text, until, undelivered: 0 });
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#waiting = [];
  }

  #try(reply: Reply): void {
    this.link.publish(reply.channel, reply.text).then(
      (takers) => {
        this.#isReported = false;
        if (takers > 0) return;
        reply.undelivered += 1;
        if (reply.undelivered < UNDELIVERED_MAX) this.#keep(reply);
      },
      (error: unknown) => {
        if (!this.#isReported) this.logger.warn({ err: error }, 'could not answer another hub process; retrying');
        this.#isReported = true;
        this.#keep(reply);
      },
    );
  }

  #keep(reply: Reply): void {
    this.#waiting.push(reply);
    if (this.#waiting.length > WAITING_MAX) this.#waiting.shift();
    this.#timer ??= setTimeout(() => this.#tryAll(), TRY_EVERY_MS).unref();
  }

  #tryAll(): void {
    this.#timer = undefined;
    const now = Date.now();
    const replies = this.#waiting;
    this.#waiting = [];
    for (const reply of replies) if (reply.until > now) this.#try(reply);
  }
}
