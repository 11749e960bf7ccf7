/** Turns a job's device filter into targets, inside PostgreSQL and in chunks. May be stopped and begun again anywhere: no target comes twice. */
import { planWaves } from '@flotilla/jobs';
import type { Job } from '@flotilla/jobs';
import type { RunContext } from './run-context.js';
import type { ToolSetVerdicts } from '../dispatch/tool-set-verdicts.js';

/** Targets of one statement: some tens of milliseconds, so that a pause or a crash costs no more. */
const chunkTargets = 5_000;

/** Resolves to true when all targets are in and counted, to false when `isWanted` no longer held or somebody moved the job on. */
export async function prepareTargets(
  run: RunContext,
  { waves }: Pick<Job, 'waves'>,
  verdicts: ToolSetVerdicts,
  isWanted: () => boolean,
): Promise<boolean> {
  const { jobs } = run.deps.registry;
  const judged = await run.persist('judge tool sets', async () => verdicts.judge(await jobs.toolSetsOf(run.fence)));
  for (;;) {
    if (!isWanted()) return false;
    const at = run.deps.clock.now();
    const inserted = await run.persist('prepare targets', () => jobs.prepareChunk(run.fence, judged, chunkTargets, at));
    // Moved on meanwhile: what is in is not all, and must not be counted as if it were.
    if (inserted === undefined) return false;
    if (inserted === 0) break;
  }
  const total = waves.length === 0 ? 0 : await run.persist('count the targets', () => jobs.countTargets(run.fence));
  await run.persist('freeze the targets', () => jobs.freeze(run.fence, planWaves(total, waves)));
  return true;
}
