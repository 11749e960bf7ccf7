/**
 * Keeps what the hub opened and closes it in reverse order: at the end, and after a failed start.
 */
import type { Logger } from 'pino';

/** Time for one part to close, ms. After that the next part is closed. */
const CLOSE_WITHIN_MS = 15_000;

export class Closers {
  readonly #opened: { readonly name: string; readonly close: () => Promise<unknown> | unknown }[] = [];

  constructor(private readonly logger: Logger) {}

  add(name: string, close: () => Promise<unknown> | unknown): void {
    this.#opened.push({ name, close });
  }

  /**
   * Closes all parts, last opened first. Logs a part that fails or takes too long, and continues.
   */
  async closeAll(): Promise<void> {
    for (let part = this.#opened.pop(); part; part = this.#opened.pop()) {
      const { name, close } = part;
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(() => {
          this.logger.error({ part: name, withinMs: CLOSE_WITHIN_MS }, 'did not close in time');
          resolve();
        }, CLOSE_WITHIN_MS);
      });
      try {
        await Promise.race([close(), late]);
      } catch (error) {
        this.logger.error({ err: error, part: name }, 'could not be closed');
      } finally {
        clearTimeout(timer);
      }
    }
  }
}
