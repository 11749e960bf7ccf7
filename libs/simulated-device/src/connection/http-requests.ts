/** Requests that a device makes over HTTP: an effect goes out, an answer comes in. Whoever carries effects out owns the sockets. [xiaozhi §6] */
import type { ImageVerdict } from '@flotilla/firmware';
import type { AssetsVerdict } from '../firmware/assets-reader.js';
import type { Link } from './link.js';

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  /** In the firmware's order and spelling. */
  readonly headers: Readonly<Record<string, string>>;
  /** As parts, each goes out as one chunk, and no length is told. */
  readonly body: string | readonly Uint8Array[];
  /**
   * The answer is a file, of which the device keeps only what it says of itself: `image` and `assets` are checked as such while it comes in, `half` means
   * that the device loses the connection in the middle of it, which counts as no answer.
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

  /** An answer that nobody waits for any more has no effect. */
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
