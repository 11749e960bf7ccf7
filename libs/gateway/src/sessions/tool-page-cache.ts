/** Caches parsed pages of `tools/list` by text: devices of one firmware send the same pages. */
import type { ToolPage } from '@flotilla/mcp';
import type { ToolPageCache } from '@flotilla/session';

export class BoundedToolPageCache implements ToolPageCache {
  readonly #pages = new Map<string, ToolPage>();
  #bytes = 0;

  /** `bytesMax` bounds the texts; the parsed pages are about as large again. */
  constructor(private readonly bytesMax: number) {}

  recall(pageText: string): ToolPage | undefined {
    const page = this.#pages.get(pageText);
    if (page === undefined) return undefined;
    // A Map keeps the order of insertion: the first key is the longest unused.
    this.#pages.delete(pageText);
    this.#pages.set(pageText, page);
    return page;
  }

  remember(pageText: string, page: ToolPage): void {
    if (this.#pages.delete(pageText)) this.#bytes -= bytesOf(pageText);
    this.#pages.set(pageText, page);
    this.#bytes += bytesOf(pageText);
    for (const oldest of this.#pages.keys()) {
      if (this.#bytes <= this.bytesMax) return;
      this.#pages.delete(oldest);
      this.#bytes -= bytesOf(oldest);
    }
  }

  /** Bytes of text held. */
  get bytes(): number {
    return this.#bytes;
  }
}

/** A JavaScript string holds at most two bytes per unit. */
function bytesOf(text: string): number {
  return text.length * 2;
}
