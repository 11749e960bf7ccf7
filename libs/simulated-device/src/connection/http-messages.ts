/** HTTP requests of a device and their answers. [xiaozhi §6] */
import type { ImageVerdict } from '@flotilla/firmware';
import type { AssetsVerdict } from '../firmware/assets-reader.js';

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
