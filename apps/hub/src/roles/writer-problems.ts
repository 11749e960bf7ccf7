/** Judges the writers of all processes of the hub: which are behind, and which lose rows. */
import type { HubProblem } from '@flotilla/fleet';
import type { ProcessWriters } from '@flotilla/registry';
import { LRUCache } from 'lru-cache';

/** A writer that is so far behind does not keep up, ms. */
const LAG_MS = 30_000;
/** Lost rows are reported for this time, ms. */
const DROPS_COUNT_MS = 600_000;
/** Processes whose lost rows are known, also former ones. */
const PROCESSES_MAX = 1_000;

export class WriterProblems {
  /** Lost rows by process. Undefined until the first look: what was lost before it is old. */
  #dropped: LRUCache<string, number> | undefined;
  #latestDrop: { readonly at: number; readonly reason: string } | undefined;

  /** `now`: ms, from any clock that only goes forward. */
  among(processes: readonly ProcessWriters[], now: number): readonly HubProblem[] {
    const place = ({ host, pid }: ProcessWriters) => (processes.length > 1 ? ` (process ${pid} on ${host})` : '');
    this.#noteDrops(processes, place, now);
    const drop = this.#latestDrop;
    const isRecent = drop !== undefined && now - drop.at < DROPS_COUNT_MS;
    return [...problemsOfLag(processes, place), ...(isRecent ? [{ name: 'dropped rows', reason: drop.reason }] : [])];
  }

  #noteDrops(processes: readonly ProcessWriters[], place: (process: ProcessWriters) => string, now: number): void {
    const isFirst = this.#dropped === undefined;
    const dropped = (this.#dropped ??= new LRUCache({ max: PROCESSES_MAX }));
    for (const process of processes) {
      const total = process.writers.reduce((sum, { droppedTotal }) => sum + droppedTotal, 0);
      if (!isFirst && total > (dropped.get(process.id) ?? 0))
        this.#latestDrop = { at: now, reason: `a writer dropped rows that it could not store${place(process)}` };
      dropped.set(process.id, total);
    }
  }
}

/** One problem for each name of a writer: the process that is furthest behind. */
function problemsOfLag(
  processes: readonly ProcessWriters[],
  place: (process: ProcessWriters) => string,
): readonly HubProblem[] {
  const worst = new Map<string, { readonly lagMs: number; readonly process: ProcessWriters }>();
  for (const process of processes)
    for (const { name, lagMs } of process.writers)
      if (lagMs > LAG_MS && lagMs > (worst.get(name)?.lagMs ?? 0)) worst.set(name, { lagMs, process });
  return [...worst].map(([name, { lagMs, process }]) => ({
    name: `writer ${name}`,
    reason: `the writer "${name}" is ${Math.round(lagMs / 1_000)} s behind${place(process)}`,
  }));
}
