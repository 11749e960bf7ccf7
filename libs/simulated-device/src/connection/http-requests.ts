/**
 * HTTP requests of a device: an effect leaves, an answer returns. The driver owns the sockets.
 * [xiaozhi §6]
 */
import type { ImageVerdict } from '@flotilla/firmware';
import type { AssetsVerdict } from '../firmware/assets-reader.js';
import type { Link } from './link.js';

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  /** In the firmware's order and spelling. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parts leave as one chunk each, without Content-Length. */
  readonly body: string | readonly Uint8Array[];
  /**
   * The answer is a file, checked as `image` or `assets` while it arrives. `half`: the connection
   * breaks in the middle, which counts as no answer.
   */
  readonly download?: 'file' | 'image' | 'assets' | 'half';
}

export interface HttpResponse {
  readonly status: number;
  /** Empty for a download. */
  readonly body: string;
  /** As the headers say, where they do. */
  readonly contentLength?: number | undefined;
  readonly contentType?: string | undefined;
  /** What a download of `image` turned out to be. */
  readonly image?: ImageVerdict | undefined;
  /** The same of `assets`. */
  readonly assets?: AssetsVerdict | undefined;
}

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
