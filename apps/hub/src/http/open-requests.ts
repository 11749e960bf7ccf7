/** The HTTP requests that are being answered, so that a process that stops can finish them. */
import { EventEmitter, once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Streams of agents stay open without an end. A tool call of an agent counts as a single call.
 */
const ENDLESS = /^\/mcp(\?|$)/;

export class OpenRequests {
  #count = 0;
  #isDraining = false;
  readonly #ended = new EventEmitter();

  /** Requests without an answer, or with an answer that is not sent completely. */
  get count(): number {
    return this.#count;
  }

  /** Clients get `Connection: close` from now on, so that they use another process. */
  drain(): void {
    this.#isDraining = true;
  }

  watch({ url = '' }: IncomingMessage, response: ServerResponse): void {
    if (this.#isDraining) response.setHeader('connection', 'close');
    if (ENDLESS.test(url)) return;
    this.#count += 1;
    response.once('close', () => {
      this.#count -= 1;
      if (this.#count === 0) this.#ended.emit('idle');
    });
  }

  /** Resolves when no request is open, or after `withinMs`. */
  async idle(withinMs: number): Promise<void> {
    if (this.#count === 0) return;
    await once(this.#ended, 'idle', { signal: AbortSignal.timeout(withinMs) }).catch(() => undefined);
  }
}
