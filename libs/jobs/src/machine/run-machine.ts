/**
 * The decisions of the run of one job, as a function of its state and one input. It has no side
 * effects: the effects that it returns say what to do. At most one task is under way; its report is
 * the next input.
 */
import { waveCountersRead, lastDecisionRead, pendingRead } from './counters.js';
import { healthRead } from './health.js';
import { totalsRead, rowsCounted, recovered } from './finishing.js';
import { decide } from './next-task.js';
import type { RunEffect, RunInput, RunSignal, TaskReport } from './run-input.js';
import { checkAllMs, sleepMsMax } from './run-state.js';
import type { RunState } from './run-state.js';
import { batchSent, claimed, flushed, restEnded, targetEnded } from './sending.js';
import { forgetTimes, move, recover, start, update, wake } from './turn.js';
import type { Turn } from './turn.js';
import { answeredLate, lookLater, lookNow, verificationsWritten, verifyingRead } from './verifying.js';

interface RunStep {
  readonly run: RunState;
  readonly effects: readonly RunEffect[];
}

export function step(run: RunState, input: RunInput): RunStep {
  const turn: Turn = { run, now: input.now, rowsMax: input.rowsMax, effects: [], isWoken: false };
  if (run.isEnded) return { run, effects: [] };
  // It is never further away, unless the clock was set back.
  if (run.checkAllAt > input.now + checkAllMs) forgetTimes(turn);
  if (isSignal(input)) takeSignal(turn, input);
  else {
    update(turn, { task: undefined });
    takeReport(turn, input);
  }
  if (turn.run.task === undefined && (turn.isWoken || turn.run.sleep === undefined)) decide(turn);
  return { run: turn.run, effects: turn.effects };
}

/** A kind that is missing here does not compile. */
const signalKinds: Readonly<Record<RunSignal['kind'], true>> = {
  started: true,
  stop: true,
  timePassed: true,
  rowChanged: true,
  devicesReturned: true,
  devicesWoken: true,
  lateAnswer: true,
  slotsGranted: true,
  targetEnded: true,
  restEnded: true,
  batchSent: true,
  readBegan: true,
  readEnded: true,
  readEndsWait: true,
  flushed: true,
};

function isSignal(input: RunSignal | TaskReport): input is RunSignal {
  return Object.hasOwn(signalKinds, input.kind);
}

function takeSignal(turn: Turn, signal: RunSignal): void {
  const { run, now } = turn;
  const { verifying, slots } = run;
  switch (signal.kind) {
    case 'targetEnded':
      return targetEnded(turn, signal);
    case 'batchSent':
      return batchSent(turn, signal.unsent);
    case 'flushed':
      return flushed(turn, signal.flushed);
    case 'restEnded':
      return restEnded(turn);
    case 'slotsGranted':
      return wake(turn, { claimAt: -Infinity });
    case 'started':
      return run.job.firmwareImageId === undefined ? recover(turn) : start(turn, { kind: 'readImageSize' });
    case 'stop':
      turn.effects.push({ kind: 'withdraw' });
      return wake(turn, { isStopping: true });
    case 'timePassed':
      // A row that was read a moment ago is not read again.
      return wake(turn, {
        isRowStale: run.isRowStale || (run.sleep === 'IDLE' && now - run.rowReadAt >= sleepMsMax / 2),
      });
    case 'rowChanged':
      return wake(turn, { isRowStale: true });
    case 'devicesReturned':
      if (verifying.isAnyExpected) lookNow(turn);
      if (run.job.state === 'RUNNING') turn.effects.push({ kind: 'wakeWaiting', deviceIds: signal.deviceIds });
      return;
    case 'devicesWoken':
      return signal.count === 0 ? undefined : wake(turn, { mayHaveReady: true, claimAt: -Infinity });
    case 'lateAnswer':
      return answeredLate(turn, signal.callId, signal.outcome);
    case 'readBegan':
      return update(turn, { slots: { ...slots, reading: slots.reading + 1 } });
    case 'readEnded':
      return wake(turn, { slots: { ...slots, reading: slots.reading - 1 } });
    case 'readEndsWait':
      return wake(turn, { verifying: { ...verifying, isReadEndWaiting: true } });
  }
}

function takeReport(turn: Turn, report: TaskReport): void {
  const { run, now } = turn;
  switch (report.kind) {
    case 'imageSizeRead':
      update(turn, { imageBytes: report.bytes });
      return recover(turn);
    case 'recovered':
      return recovered(turn, report);
    case 'jobRead':
      // Secrets are masked in rows. The arguments never change, so those of the start stay.
      return update(turn, { job: { ...report.job, arguments: run.job.arguments }, rowReadAt: now });
    case 'jobMoved':
      if (report.job === undefined) return update(turn, { isRowStale: true, areWaveCountersDue: true });
      return update(turn, { job: { ...report.job, arguments: run.job.arguments }, rowReadAt: now });
    case 'prepared':
      return report.isComplete ? move(turn, 'prepared') : update(turn, { isRowStale: true });
    case 'waveCountersRead':
      return waveCountersRead(turn, report);
    case 'lastDecisionRead':
      return lastDecisionRead(turn, report.at);
    case 'healthRead':
      return healthRead(turn, report.evidence);
    case 'waveOpened':
      // Where it is not open, the row shows who moved the job.
      return update(turn, { isOpening: true, isRowStale: true, areWaveCountersDue: true });
    case 'targetsOpened':
      return update(turn, { isOpening: report.count > 0, mayHaveReady: run.mayHaveReady || report.count > 0 });
    case 'retriesReleased':
      return update(turn, {
        retryAt: Math.min(run.retryAt, report.nextAt ?? Infinity),
        mayHaveReady: run.mayHaveReady || report.count > 0,
      });
    case 'claimed':
      return claimed(turn, report.count);
    case 'pendingRead':
      return pendingRead(turn, report.byWave);
    case 'neverSentEnded':
      if (report.count > 0) turn.effects.push({ kind: 'notify' });
      return update(turn, { mayHaveReady: false, isEndPossible: true });
    case 'inFlightEnded':
      return update(turn, { isEndPossible: run.isEndPossible || report.count > 0 });
    case 'totalsRead':
      return totalsRead(turn, report.progress);
    case 'rowsCounted':
      return rowsCounted(turn, report.drift);
    case 'verifyingRead':
      return verifyingRead(turn, report);
    case 'verificationsWritten':
      return verificationsWritten(turn, report);
    case 'readsBegun':
      return lookLater(turn, report.isMoreDue);
    case 'verificationsExtended':
    case 'sentMarked':
      return;
  }
}
