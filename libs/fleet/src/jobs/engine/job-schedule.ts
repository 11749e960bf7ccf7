/** Has one job follow the clock: its start, its window, its end. What is due is decided in libs/jobs; this remembers when to look again. */
import { scheduledMove, windowAt } from '@flotilla/jobs';
import type { Job, WindowState } from '@flotilla/jobs';
import type { JobRow } from './job-row.js';

export class JobSchedule {
  /** Computed anew when it has changed: time zones are not looked up at every step. */
  #window: WindowState | undefined;

  /** True where the job moved. */
  async follow(row: JobRow, now: number): Promise<boolean> {
    const move = scheduledMove(row.value, this.#windowOf(row.value, now), now);
    if (move === undefined) return false;
    const { event, ...why } = move;
    return row.move(event, why);
  }

  #windowOf({ window }: Job, now: number): WindowState | undefined {
    if (window !== undefined && (this.#window === undefined || this.#window.until <= now))
      this.#window = windowAt(window, now);
    return this.#window;
  }
}
