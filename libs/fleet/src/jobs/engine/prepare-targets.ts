/**
 * Turns a job's device filter into targets, inside PostgreSQL and in chunks. Safe to interrupt and
 * repeat.
 */
import { planWaves } from '@flotilla/jobs';
import type { Job } from '@flotilla/jobs';
import type { EligibilityCheck } from '../eligibility-check.js';
import type { RunContext } from './run-context.js';

/** Targets of one statement: some tens of milliseconds, which a pause or a crash costs at most. */
const chunkTargets = 5_000;

/** Resolves to false where `isWanted` no longer holds, or the job has left PREPARING. */
export async function prepareTargets(
  { deps, fence, persist }: RunContext,
  eligibility: EligibilityCheck,
  isWanted: () => boolean,
): Promise<boolean> {
  const { targetPreparation } = deps.registry;
  const judged = await persist('judge tool sets', async () =>
    eligibility.judge(await targetPreparation.toolSetsOf(fence)),
  );
  for (;;) {
    if (!isWanted()) return false;
    const at = deps.clock.now();
    const inserted = await persist('prepare targets', () =>
      targetPreparation.prepareChunk(fence, judged, chunkTargets, at),
    );
    // What was inserted so far is not all, and must not be counted as if it were.
    if (inserted === undefined) return false;
    if (inserted === 0) return true;
  }
}

export async function freezeTargets(
  { deps, fence, persist }: RunContext,
  { waves }: Pick<Job, 'waves'>,
): Promise<void> {
  const { targetPreparation } = deps.registry;
  const total =
    waves.length === 0 ? 0 : await persist('count the targets', () => targetPreparation.countSendable(fence));
  await persist('freeze the targets', () => targetPreparation.freeze(fence, planWaves(total, waves)));
}
