/**
 * HTTP requests of a device: an effect leaves, an answer returns. The driver owns the sockets.
 * [xiaozhi §6]
 */
import type { HttpRequest, HttpResponse } from './http-messages.js';
import type { Link } from './link.js';

/** `response` is undefined where none came. */
type Continue = (response: HttpResponse | undefined, now: number) => void;

export class HttpRequests {
  readonly #waiting = new Map<number, Continue>();
  #lastId = 0;

  constructor(private readonly link: Pick<Link, 'effect'>) {}

  send(request: HttpRequest, then: Continue): void {
    this.#lastId += 1;
    this.#waiting.set(this.#lastId, then);
    this.link.effect({ kind: 'request', id: this.#lastId, request });
  }

  /** Ignores answers to forgotten requests. */
  answered(id: number, response: HttpResponse | undefined, now: number): void {
    const then = this.#waiting.get(id);
    this.#waiting.delete(id);
    then?.(response, now);
  }

  /** After a restart. */
  forgetAll(): void {
    this.#waiting.clear();
  }
}
