/** Lets one loop sleep until somebody wakes it or a time passes. A wake that comes while nobody sleeps is not lost. */
import type { Clock } from '@flotilla/session';

export class WakeSignal {
  readonly #clock: Clock;
  #isWoken = false;
  #wakeSleeper: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  wake(): void {
    this.#isWoken = true;
    this.#wakeSleeper?.();
  }

  /** Resolves to whether somebody woke it. One sleeper at a time. */
  async sleep(timeoutMs: number): Promise<boolean> {
    if (!this.#isWoken) {
      await new Promise<void>((resolve) => {
        const cancelTimer = this.#clock.setTimer(timeoutMs, resolve);
        this.#wakeSleeper = () => {
          cancelTimer();
          resolve();
        };
      });
    }
    const isWoken = this.#isWoken;
    this.#wakeSleeper = undefined;
    this.#isWoken = false;
    return isWoken;
  }
}
