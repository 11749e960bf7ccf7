/** Records when half, 95 % and 99 % of the reachable devices were in sync with the latest edit. */
import { hasConverged } from '@flotilla/desired-state';
import { writeDesiredStateEvent } from '../desired-states.js';
import type { DesiredStateRunnerDeps } from './controller-deps.js';
import type { LiveState } from './live-state.js';

const shares = [
  { member: 't50Ms', share: 0.5, name: '50' },
  { member: 't95Ms', share: 0.95, name: '95' },
  { member: 't99Ms', share: 0.99, name: '99' },
] as const;

export async function watchConvergence(deps: DesiredStateRunnerDeps, live: LiveState): Promise<void> {
  const { row } = live;
  if (!live.isCompared || row.settledGeneration < row.generation) return;
  const elapsed = Math.max(0, deps.clock.now() - row.editedAt);
  const reached = shares.filter(
    ({ member, share }) => row[member] === undefined && hasConverged(live.counts, live.inSyncNow, share),
  );
  if (reached.length === 0) return;
  const times = Object.fromEntries(reached.map(({ member }) => [member, elapsed]));
  const known = { t50Ms: undefined, t95Ms: undefined, t99Ms: undefined, ...times };
  if (!(await deps.registry.desiredStateQueue.recordConvergence(deps.lease.id, row, known))) return;
  live.owned = { ...live.owned, state: { ...live.row, ...times } };
  for (const { name } of reached) deps.observe?.converged(name, elapsed / 1_000);
  if (reached.some(({ name }) => name === '95'))
    writeDesiredStateEvent(deps, 'desired_state.converged', row, { seconds: elapsed / 1_000 });
}
