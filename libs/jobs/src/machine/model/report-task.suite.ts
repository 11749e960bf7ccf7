/** How the model does the tasks of a run, and what it reports of them. */
import type { RunTask, TaskReport } from '../run-input.js';
import { extendVerifying, readVerifying, writeVerifications } from './model-verification.suite.js';
import type { World } from './run-world.suite.js';

/** Does the task on the rows of the world. */
export function reportOf(world: World, task: RunTask): TaskReport {
  const { now, rows } = world;
  switch (task.kind) {
    case 'recover':
      return recover(world, task.deadlines.deadlineMs);
    case 'readJob':
      return { kind: 'jobRead', job: rows.job };
    case 'moveJob':
      if (world.run.job.version !== rows.job.version) return { kind: 'jobMoved', job: undefined };
      rows.move(task.move);
      return { kind: 'jobMoved', job: rows.job };
    case 'prepare':
      rows.prepare();
      return { kind: 'prepared', isComplete: true };
    case 'readWaveCounters':
      world.failuresCounted = rows.failures;
      return { kind: 'waveCountersRead', byWave: rows.byWave(), overdue: rows.overdue(now), waves: rows.waves };
    case 'readLastDecision':
      return { kind: 'lastDecisionRead', at: rows.lastDecidedAt(task.wave) };
    case 'readHealth':
      return { kind: 'healthRead', evidence: world.health?.() };
    case 'openWave':
      rows.openWave(task.from, now);
      return { kind: 'waveOpened' };
    case 'openTargets':
      return { kind: 'targetsOpened', count: rows.openTargets() };
    case 'releaseRetries':
      return { kind: 'retriesReleased', ...rows.releaseRetries(now) };
    case 'claim':
      return { kind: 'claimed', count: claim(world, task.limit) };
    case 'readPending':
      return { kind: 'pendingRead', byWave: rows.byWave() };
    case 'markSent':
      return { kind: 'sentMarked' };
    case 'endNeverSent':
      return { kind: 'neverSentEnded', count: rows.endNeverSent(task.outcome) };
    case 'endInFlight':
      return { kind: 'inFlightEnded', count: rows.endInFlight() };
    case 'readTotals':
      return { kind: 'totalsRead', progress: rows.counted };
    case 'countRows':
      return { kind: 'rowsCounted', drift: rows.recount() };
    case 'extendVerifications':
      world.isExtended = true;
      extendVerifying(rows, task.until);
      return { kind: 'verificationsExtended' };
    case 'readVerifying':
      return readVerifying(rows, now, task.callIds);
    case 'writeVerifications':
      return writeVerifications(rows, task.ends, now);
    case 'writeReadEnds':
      return writeVerifications(rows, world.readEnds.splice(0), now);
    case 'beginReads':
      return { kind: 'readsBegun', isMoreDue: beginReads(world, task.limit) };
    case 'readImageSize':
      throw new TypeError('The model has no images.');
  }
}

function recover(world: World, deadlineMs: number): TaskReport {
  const known = new Set([...world.calls, ...world.batches.flat(), ...world.ends.map(({ target }) => target)]);
  const lost = world.rows.inState('DISPATCHING').filter((target) => !known.has(target));
  world.rows.recover(lost, deadlineMs, world.now);
  const verifying = lost.filter(({ state }) => state === 'VERIFYING').length;
  return { kind: 'recovered', count: lost.length, verifying };
}

function claim(world: World, limit: number): number {
  const claimed = world.rows.claim(limit, world.now);
  if (claimed.length > 0) world.batches.push(claimed);
  world.claims.push({ at: world.now, count: claimed.length });
  return claimed.length;
}

function beginReads(world: World, limit: number): boolean {
  const due = world.rows.inState('VERIFYING').filter(({ device, readAt }) => device.isOnline && readAt <= world.now);
  const begun = due.slice(0, limit);
  for (const target of begun) {
    target.readAt = world.now + 2 * world.rows.job.callTimeoutMs;
    world.reads.push(target);
    world.signal({ kind: 'readBegan' });
  }
  return begun.length === limit;
}
