/** What was opened, in order, so that it can be closed in reverse: at the end of a run, and after a start that failed half way. */
import type { Logger } from 'pino';

/** One part may take this long to close, ms; then the next is closed all the same. */
const CLOSE_WITHIN_MS = 15_000;

export class Closers {
  readonly #opened: { readonly name: string; readonly close: () => Promise<unknown> | unknown }[] = [];

  constructor(private readonly logger: Logger) {}

  add(name: string, close: () => Promise<unknown> | unknown): void {
    this.#opened.push({ name, close });
  }

  /** Closes everything that is open, last opened first. A part that fails or hangs is logged and does not keep the others open. */
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
