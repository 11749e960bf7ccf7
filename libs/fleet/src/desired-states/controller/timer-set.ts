/** Timers that end together. After the end no new one starts. */
import type { Clock } from '@flotilla/session';

export class TimerSet {
  readonly #cancels = new Set<() => void>();
  #hasEnded = false;

  constructor(private readonly clock: Pick<Clock, 'setTimer'>) {}

  after(delayMs: number, work: () => void): void {
    if (this.#hasEnded) return;
    const cancel = this.clock.setTimer(delayMs, () => {
      this.#cancels.delete(cancel);
      work();
    });
    this.#cancels.add(cancel);
  }

  end(): void {
    this.#hasEnded = true;
    for (const cancel of this.#cancels) cancel();
    this.#cancels.clear();
  }
}
