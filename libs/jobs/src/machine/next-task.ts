/** What the run does next, from what it knows: the first thing that is due, or a sleep. */
import type { JobState } from '../job-types.js';
import { scheduledMove } from '../schedule/scheduled-move.js';
import { windowAt } from '../schedule/window-at.js';
import { readHealth } from './health.js';
import { endTargets, finishOrSleep } from './finishing.js';
import { checkAllMs, gatherSlotsMs, isIdle, newRound, recountMs, sleepMsMax } from './run-state.js';
import { send } from './sending.js';
import { move, sleep, start, update } from './turn.js';
import type { Turn } from './turn.js';
import { lookNow, verify } from './verifying.js';

export function decide(turn: Turn): void {
  if (turn.run.isStopping) return drain(turn);
  if (turn.run.isRowStale) {
    update(turn, { isRowStale: false });
    return start(turn, { kind: 'readJob' });
  }
  if (followClock(turn)) return;
  const { state } = turn.run.job;
  if (state !== turn.run.enteredState) enter(turn, state);
  if (checkAll(turn) || verify(turn) || readHealth(turn)) return;
  switch (state) {
    case 'PREPARING':
      return start(turn, { kind: 'prepare' });
    case 'RUNNING':
      return send(turn);
    case 'CANCELLING':
      return endTargets(turn);
    case 'PAUSED':
      // Before its devices are known, a job without open targets has not ended.
      return turn.run.job.total === undefined ? sleep(turn, sleepMsMax) : finishOrSleep(turn);
    case 'AWAITING_APPROVAL':
    case 'SCHEDULED':
      return sleep(turn, sleepMsMax);
    case 'FINISHED':
      return end(turn);
  }
}

function end(turn: Turn): void {
  update(turn, { isEnded: true });
  turn.effects.push({ kind: 'end' });
}

/** A process that stops waits for the ends of its calls, and for their way into PostgreSQL. */
function drain(turn: Turn): void {
  if (isIdle(turn.run)) return end(turn);
  turn.effects.push({ kind: 'flush' });
  update(turn, { sleep: 'SHORT' });
  turn.effects.push({ kind: 'sleep', ms: gatherSlotsMs });
}

/** The start, the window and the expiry of the job. True where the job has to move. */
function followClock(turn: Turn): boolean {
  const { job } = turn.run;
  let { window } = turn.run;
  if (job.window !== undefined && (window === undefined || window.until <= turn.now)) {
    window = windowAt(job.window, turn.now);
    update(turn, { window });
  }
  const due = scheduledMove(job, window, turn.now);
  if (due === undefined) return false;
  const { trigger, ...why } = due;
  move(turn, trigger, why);
  return true;
}

/** Nothing is known of what happened while the job was in another state. */
function enter(turn: Turn, state: JobState): void {
  update(turn, {
    enteredState: state,
    mayHaveReady: true,
    isEndPossible: true,
    areWaveCountersDue: true,
    isOpening: true,
    retryAt: -Infinity,
    claimAt: -Infinity,
    round: newRound,
    healthAt: -Infinity,
    endAt: undefined,
  });
  if (state !== 'RUNNING') turn.effects.push({ kind: 'withdraw' });
}

/** Repeats all checks now and then, as notifications may be lost. True where a task was started. */
function checkAll(turn: Turn): boolean {
  const { run, now } = turn;
  if (now < run.checkAllAt) return false;
  update(turn, { checkAllAt: now + checkAllMs, isEndPossible: true, areWaveCountersDue: true });
  // Devices may get images from any process that they ask.
  if (run.job.firmwareImageId !== undefined)
    update(turn, { verifying: { ...turn.run.verifying, isAnyExpected: true } });
  if (run.job.state === 'RUNNING') {
    if (turn.run.verifying.isAnyExpected) lookNow(turn);
    turn.effects.push({ kind: 'wakeWaiting', deviceIds: undefined });
  }
  if (now < run.recountAt) return false;
  update(turn, { recountAt: now + recountMs });
  start(turn, { kind: 'countRows' });
  return true;
}
