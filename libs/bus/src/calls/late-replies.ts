/**
 * Answers to other processes that could not be delivered: Redis was away, or the process had not found it again. Each is tried again until it is
 * taken, or too old to be waited for. The other end takes an answer once, whatever comes.
 */
import type { BusLogger } from '../bus-logger.js';
import type { RedisLink } from '../redis/redis-link.js';

/** Answers that wait at a time, as many as a gateway is measured to have in flight; the oldest is given up for one more. */
const WAITING_MAX = 10_000;
const TRY_EVERY_MS = 500;
/** Tries that reach a Redis in which no process listens for the answer: the process that asked has ended. */
const UNHEARD_MAX = 10;

interface Reply {
  readonly channel: string;
  readonly text: string;
  /** ms since the Unix epoch. */
  readonly until: number;
  unheard: number;
}

export class LateReplies {
  readonly #link: RedisLink;
  readonly #logger: BusLogger;
  readonly #waiting = new Set<Reply>();
  #timer: NodeJS.Timeout | undefined;

  constructor(link: RedisLink, logger: BusLogger) {
    this.#link = link;
    this.#logger = logger;
  }

  /** `until`: when the other process gives up, ms since the Unix epoch. */
  send(channel: string, text: string, until: number): void {
    this.#try({ channel, text, until, unheard: 0 });
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#waiting.clear();
  }

  #try(reply: Reply): void {
    this.#link.publish(reply.channel, reply.text).then(
      (takers) => {
        if (takers > 0) return;
        reply.unheard += 1;
        if (reply.unheard < UNHEARD_MAX) this.#keep(reply);
      },
      (error: unknown) => {
        if (this.#waiting.size === 0)
          this.#logger.warn({ err: error }, 'could not answer another hub process; trying again');
        this.#keep(reply);
      },
    );
  }

  #keep(reply: Reply): void {
    this.#waiting.add(reply);
    if (this.#waiting.size > WAITING_MAX) {
      for (const oldest of this.#waiting) {
        this.#waiting.delete(oldest);
        break;
      }
    }
    this.#timer ??= setTimeout(() => this.#tryAll(), TRY_EVERY_MS).unref();
  }

  #tryAll(): void {
    this.#timer = undefined;
    const now = Date.now();
    const replies = [...this.#waiting];
    this.#waiting.clear();
    for (const reply of replies) if (reply.until > now) this.#try(reply);
  }
}
