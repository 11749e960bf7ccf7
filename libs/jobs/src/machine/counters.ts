/** What the counters of a running job ask for: a stop, a pause at a gate, or the next wave. */
import { findTrippedRule } from '../abort/evaluate-rules.js';
import type { TrippedRule } from '../abort/abort-rule.js';
import type { JobProgress } from '../job-types.js';
import { paceOf } from '../pace/pace.js';
import { observed } from '../pace/pace-state.js';
import { judgeGate } from '../waves/wave-gate.js';
import { preparedWave } from '../waves/wave.js';
import type { Wave } from '../waves/wave.js';
import type { TaskReport } from './run-input.js';
import { watchUntil } from './health.js';
import { gatherSlotsMs, sleepMsMax } from './run-state.js';
import { sumOf } from '../job-progress.js';
import { move, start, update } from './turn.js';
import type { Turn } from './turn.js';

/** False where neither rules, waves nor a pace depend on them. */
export function readWaveCounters(turn: Turn): boolean {
  const { job } = turn.run;
  update(turn, { areWaveCountersDue: false, gateAt: Infinity });
  if (job.abortRules.length === 0 && job.waves.length === 0 && paceOf(job) === undefined) return false;
  start(turn, {
    kind: 'readWaveCounters',
    withOverdue: job.verification !== 'NONE',
    withWaves: job.waves.length > 0,
  });
  return true;
}

/** A tripped rule is looked for before a gate. */
export function waveCountersRead(
  turn: Turn,
  { byWave, overdue, waves }: Extract<TaskReport, { kind: 'waveCountersRead' }>,
): void {
  const { job, pace } = turn.run;
  const sendable = [...byWave].filter(([wave]) => wave !== preparedWave);
  const evidence = {
    job: sumOf(sendable.map(([, progress]) => progress)),
    wave: byWave.get(job.currentWave) ?? sumOf([]),
    overdue: {
      job: [...overdue.values()].reduce((sum, count) => sum + count, 0),
      wave: overdue.get(job.currentWave) ?? 0,
    },
    firstWaveSize: waves[0]?.size ?? 0,
  };
  update(turn, { waves, pace: observed(pace, job, evidence.job, turn.now) });
  const tripped = findTrippedRule(job, evidence, turn.now);
  if (tripped !== undefined) return stopBy(turn, tripped);
  if (job.waves.length > 0 && job.total !== 0) goThroughGate(turn, evidence.wave);
}

function stopBy(turn: Turn, trippedRule: TrippedRule): void {
  if (trippedRule.rule.action === 'CANCEL') move(turn, 'cancel', { conclusion: 'ABORTED', trippedRule });
  else move(turn, 'pause', { pauseReason: 'ABORT_RULE', trippedRule });
}

function goThroughGate(turn: Turn, progress: JobProgress): void {
  const { run } = turn;
  const wave = openWave(turn);
  if (wave === undefined) return;
  if (wave.openedAt === undefined) return start(turn, { kind: 'openWave', from: 0 });
  if (wave.number === run.waves.length) return;
  if (soakOf(turn, wave) === 0) return judge(turn, wave, progress, wave.openedAt);
  update(turn, { gateProgress: progress });
  start(turn, { kind: 'readLastDecision', wave: wave.number });
}

export function lastDecisionRead(turn: Turn, at: number | undefined): void {
  const { finalProgress, gateProgress } = turn.run;
  if (finalProgress !== undefined) return watchUntil(turn, at);
  const wave = openWave(turn);
  update(turn, { gateProgress: undefined });
  if (wave?.openedAt !== undefined && gateProgress !== undefined) judge(turn, wave, gateProgress, at ?? wave.openedAt);
}

function judge(turn: Turn, wave: Wave, progress: JobProgress, lastDecidedAt: number): void {
  const { stragglerAfterMs } = turn.run.rules;
  const gate = judgeGate({ ...wave, soakSeconds: soakOf(turn, wave) }, progress, {
    now: turn.now,
    lastDecidedAt,
    stragglerAfterMs,
  });
  switch (gate.kind) {
    case 'open':
      return start(turn, { kind: 'openWave', from: wave.number });
    case 'hold':
      return move(turn, 'pause', {
        pauseReason: 'WAVE_GATE',
        gate: { wave: wave.number, because: gate.because },
      });
    case 'wait':
      return update(turn, { gateAt: gate.until ?? Infinity });
  }
}

/** A health gate watches each wave. */
function soakOf({ run }: Turn, { soakSeconds }: Wave): number {
  return Math.max(soakSeconds, run.job.healthGate?.observeSeconds ?? 0);
}

function openWave({ run }: Turn): Wave | undefined {
  return run.waves.find(({ number }) => number === run.job.currentWave);
}

/** After a claim that found nothing: whether targets of opened waves wait only for their turn. */
export function pendingRead(turn: Turn, byWave: ReadonlyMap<number, JobProgress>): void {
  const { job, emptyClaims } = turn.run;
  const open = [...byWave].filter(([wave]) => wave <= job.currentWave || job.waves.length === 0);
  const mayHaveReady = open.some(([, { pending }]) => pending > 0);
  const claims = mayHaveReady ? emptyClaims + 1 : 0;
  update(turn, {
    isEndPossible: true,
    mayHaveReady,
    emptyClaims: claims,
    claimAt: turn.now + Math.min(gatherSlotsMs * claims, sleepMsMax),
  });
}
