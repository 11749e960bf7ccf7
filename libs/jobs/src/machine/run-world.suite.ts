/** A small model of PostgreSQL, gateways and a clock, in which the machine runs a job. */
import type { CallOutcome, DeviceId } from '@flotilla/mcp';
import { expect } from 'vitest';
import { isFailure, judgeAttempt } from '../attempt-end.js';
import type { AttemptEnd } from '../attempt-end.js';
import { nextJobState } from '../job-transitions.js';
import type { Job, JobProgress, TargetOutcome } from '../job-types.js';
import { verificationTimes } from '../verification/verification-times.js';
import { planWaves } from '../waves/plan-waves.js';
import type { Wave } from '../waves/wave.js';
import type { RunEffect, RunNews, RunTask, TaskReport } from './run-input.js';
import { step } from './run-machine.js';
import { maySend, slotsTaken, startRun } from './run-state.js';
import type { RunState } from './run-state.js';
import { jobOf } from './model-job.suite.js';
import type { WorldOptions } from './model-job.suite.js';
import { sumOf } from './sum-progress.js';

type ModelState = 'PENDING' | 'READY' | 'WAITING_DEVICE' | 'DISPATCHING' | 'RETRY_WAIT' | 'DECIDED';

export interface ModelTarget {
  readonly deviceId: DeviceId;
  readonly wave: number;
  state: ModelState;
  outcome: TargetOutcome | undefined;
  isOnline: boolean;
  claims: number;
  attempts: number;
  /** How often its call reached the device. */
  sends: number;
  readyAt: number;
  decidedAt: number;
}

const outcomeCounters: Readonly<Record<TargetOutcome, keyof JobProgress>> = {
  ...{ SUCCEEDED: 'succeeded', NO_CHANGE: 'noChange', FAILED: 'failed', REJECTED: 'rejected' },
  ...{ VERIFY_FAILED: 'verifyFailed', UNKNOWN: 'unknown', EXPIRED: 'expired', CANCELLED: 'cancelled' },
  SKIPPED: 'skipped',
};
const stateCounters: Readonly<Record<Exclude<ModelState, 'DECIDED'>, keyof JobProgress>> = {
  ...{ PENDING: 'pending', READY: 'pending', RETRY_WAIT: 'pending' },
  ...{ WAITING_DEVICE: 'waitingDevice', DISPATCHING: 'inFlight' },
};

export class World {
  now = 1_000_000_000;
  row: Job;
  waves: Wave[] = [];
  readonly targets: ModelTarget[];
  run: RunState;
  task: RunTask | undefined;
  sleepsUntil: number | undefined;
  /** Calls that a gateway has and did not settle. */
  calls: ModelTarget[] = [];
  /** Claimed batches that are not handed over. */
  readonly batches: (readonly ModelTarget[])[] = [];
  readonly ends: { readonly target: ModelTarget; readonly claims: number; readonly to: AttemptEnd }[] = [];
  readonly rests: number[] = [];
  /** When, and how many. */
  readonly claims: { readonly at: number; readonly count: number }[] = [];
  isOver = false;
  #failuresCounted = 0;
  #isWaking = false;

  constructor(options: WorldOptions) {
    this.row = jobOf(options, this.now);
    const planned = planWaves(options.targetCount, this.row.waves);
    this.waves = planned.map((wave) => ({
      ...{ ...wave, openedAt: undefined, closedAt: undefined, approvedBy: undefined },
    }));
    const waveOf = (index: number): number => {
      let end = 0;
      for (const { number, size } of planned) if (index < (end += size)) return number;
      return 1;
    };
    this.targets = Array.from({ length: options.targetCount }, (_, index) => ({
      ...{ deviceId: `device-${index}` as DeviceId, wave: waveOf(index), outcome: undefined, isOnline: true },
      ...{
        state: planned.length > 0 ? 'PENDING' : 'READY',
        claims: 0,
        attempts: 0,
        sends: 0,
        readyAt: 0,
        decidedAt: 0,
      },
    }));
    this.run = startRun({ verification: verificationTimes, stragglerAfterMs: 60_000 }, this.row, this.now);
  }

  begin(): void {
    this.tell({ kind: 'started' });
  }

  tell(input: RunNews | TaskReport): void {
    const { run, effects } = step(this.run, { ...input, now: this.now, rowsMax: 500 });
    this.run = run;
    for (const effect of effects) this.#carryOut(effect);
    expect(
      this.isOver || this.task !== undefined || this.sleepsUntil !== undefined,
      'the run waits for something',
    ).toBe(true);
    if (!this.#isWaking) return;
    this.#isWaking = false;
    this.#wakeWaiting();
  }

  #carryOut(effect: RunEffect): void {
    switch (effect.kind) {
      case 'sleep':
        expect(effect.ms).toBeGreaterThan(0);
        this.sleepsUntil = this.now + effect.ms;
        return;
      case 'send':
      case 'notify':
      case 'withdraw':
      case 'flush':
      case 'restartDevices':
        return;
      case 'rest':
        this.rests.push(this.now + effect.ms);
        return;
      case 'forgetCalls':
        this.calls = [];
        return;
      case 'wakeWaiting':
        // Its statement ends later.
        this.#isWaking = true;
        return;
      case 'end':
        this.isOver = true;
        return;
      default:
        expect(this.task, 'one task at a time').toBeUndefined();
        this.task = effect;
        this.sleepsUntil = undefined;
        if (effect.kind === 'claim') this.#checkClaim(effect.limit);
    }
  }

  #checkClaim(limit: number): void {
    const taken = this.calls.length + this.batches.flat().length + this.rests.length;
    expect(slotsTaken(this.run)).toBe(taken);
    expect(limit).toBeGreaterThan(0);
    expect(taken + limit).toBeLessThanOrEqual(this.row.maxInFlight);
    if (this.row.abortRules.length === 0) return;
    expect(
      this.ends.some(({ to }) => isFailure(to)),
      'failures are written before a claim',
    ).toBe(false);
    expect(this.#failures, 'written failures are counted before a claim').toBe(this.#failuresCounted);
  }

  get #failures(): number {
    return this.targets.filter(({ outcome }) => outcome === 'FAILED' || outcome === 'UNKNOWN').length;
  }

  /** Devices are online again, and some targets wait for them. */
  #wakeWaiting(): void {
    const woken = this.targets.filter(({ state, isOnline }) => state === 'WAITING_DEVICE' && isOnline);
    for (const target of woken) target.state = 'READY';
    if (woken.length > 0) this.tell({ kind: 'devicesWoken', count: woken.length });
  }

  /** Hands the oldest batch over: what may not be sent now is put back. */
  sendBatch(): void {
    const batch = this.batches.shift();
    if (batch === undefined) return;
    for (const target of batch) {
      if (maySend(this.run)) this.calls.push(target);
      else this.#end(target, { kind: 'ready' }, undefined);
    }
    this.tell({ kind: 'batchSent', unsent: 0 });
  }

  /** The gateway settles one call. */
  settle(index: number, outcome: CallOutcome): void {
    const [target] = this.calls.splice(index % Math.max(1, this.calls.length), 1);
    if (target === undefined) return;
    if (outcome.certainty !== 'NEVER') target.sends += 1;
    const attempt = { outcome, settledAt: this.now, attempts: target.attempts, baselineVersion: undefined };
    const rules = { verification: verificationTimes, imageBytes: undefined, chance: () => 0.5, now: this.now };
    const { end, restMs } = judgeAttempt(this.run.job, attempt, rules);
    this.#end(target, end, restMs);
  }

  #end(target: ModelTarget, to: AttemptEnd, restMs: number | undefined): void {
    this.ends.push({ target, claims: target.claims, to });
    this.tell({ kind: 'targetEnded', isFailure: isFailure(to), restMs });
  }

  /** Writes what waits. */
  flush(): void {
    const ends = this.ends.splice(0);
    if (ends.length === 0) return;
    let retryAt = Infinity;
    for (const { target, claims, to } of ends) {
      // A target that a forced cancel decided meanwhile keeps its outcome.
      if (target.state !== 'DISPATCHING' || target.claims !== claims) continue;
      if (to.kind === 'decided') Object.assign(target, { state: 'DECIDED', outcome: to.outcome, decidedAt: this.now });
      if (to.kind === 'waiting') Object.assign(target, { state: 'WAITING_DEVICE', attempts: target.attempts - 1 });
      if (to.kind === 'ready')
        Object.assign(target, { state: 'READY', attempts: target.attempts - 1, readyAt: to.notBefore ?? 0 });
      if (to.kind === 'retry') {
        Object.assign(target, { state: 'RETRY_WAIT', readyAt: to.notBefore });
        retryAt = Math.min(retryAt, to.notBefore);
      }
    }
    const failures = ends.filter(({ to }) => isFailure(to)).length;
    const isSomeReady = ends.some(({ to }) => to.kind === 'ready');
    this.tell({
      kind: 'flushed',
      flushed: { count: ends.length, failures, isSomeReady, isSomeVerifying: false, retryAt },
    });
  }

  /** An operator, or another process, moves the job. */
  steer(event: 'pause' | 'resume' | 'cancel', isForced = false): void {
    const state = nextJobState(this.row, event);
    const isForcedNow = isForced && this.row.state === 'CANCELLING' && !this.row.isCancelForced;
    if (state === undefined && !isForcedNow) return;
    if (event === 'resume' && this.row.pauseReason === 'WAVE_GATE') this.#approveWave();
    this.row = {
      ...this.row,
      state: state ?? this.row.state,
      version: this.row.version + 1,
      pauseReason: event === 'pause' ? 'USER' : undefined,
      ...(event === 'cancel' && { conclusion: 'CANCELLED', isCancelForced: isForced }),
    };
    this.tell({ kind: 'rowChanged' });
  }

  #approveWave(): void {
    const { currentWave } = this.row;
    this.waves = this.waves.map((wave) => (wave.number === currentWave ? { ...wave, approvedBy: 'operator' } : wave));
  }

  advance(ms: number): void {
    this.now += ms;
    for (const due of this.rests.filter((at) => at <= this.now)) {
      this.rests.splice(this.rests.indexOf(due), 1);
      this.tell({ kind: 'restEnded' });
    }
    if (this.sleepsUntil === undefined || this.sleepsUntil > this.now) return;
    this.sleepsUntil = undefined;
    this.tell({ kind: 'timePassed' });
  }

  /** Completes the task that is under way. */
  perform(): void {
    const { task } = this;
    if (task === undefined) return;
    this.task = undefined;
    this.tell(this.#report(task));
  }

  #report(task: RunTask): TaskReport {
    switch (task.kind) {
      case 'recover':
        return { kind: 'recovered', count: this.#recover(), verifying: 0 };
      case 'readJob':
        return { kind: 'jobRead', job: this.row };
      case 'moveJob': {
        if (this.run.job.version !== this.row.version) return { kind: 'jobMoved', job: undefined };
        const { state, pauseReason, conclusion, trippedRule = this.row.trippedRule } = task.move;
        this.row = { ...this.row, state, pauseReason, conclusion, trippedRule, version: this.row.version + 1 };
        return { kind: 'jobMoved', job: this.row };
      }
      case 'prepare':
        this.row = { ...this.row, total: this.targets.length };
        return { kind: 'prepared', isComplete: true };
      case 'readCounters':
        this.#failuresCounted = this.#failures;
        return { kind: 'countersRead', byWave: this.#byWave(), overdue: new Map(), waves: this.waves };
      case 'readLastDecision':
        return { kind: 'lastDecisionRead', at: this.#lastDecidedAt(task.wave) };
      case 'openWave':
        this.#openWave(task.from);
        return { kind: 'waveOpened' };
      case 'openTargets':
        return { kind: 'targetsOpened', count: this.#openTargets() };
      case 'releaseRetries':
        return this.#releaseRetries();
      case 'claim':
        return { kind: 'claimed', count: this.#claim(task.limit) };
      case 'readReady':
        return { kind: 'readyRead', byWave: this.#byWave() };
      case 'markSent':
        return { kind: 'sentMarked' };
      case 'endNeverSent':
        return { kind: 'neverSentEnded', count: this.#endNeverSent(task.outcome) };
      case 'endInFlight': {
        const left = this.targets.filter(({ state }) => state === 'DISPATCHING');
        for (const target of left) Object.assign(target, { state: 'DECIDED', outcome: 'UNKNOWN' });
        return { kind: 'inFlightEnded', count: left.length };
      }
      case 'readProgress':
        return { kind: 'progressRead', progress: this.progress };
      case 'recount':
        return { kind: 'recounted', drift: 0 };
      default:
        throw new TypeError(`The model has no ${task.kind}.`);
    }
  }

  get progress(): JobProgress {
    return sumOf([...this.#byWave().values()]);
  }

  #byWave(): ReadonlyMap<number, JobProgress> {
    const byWave = new Map<number, Record<keyof JobProgress, number>>();
    for (const { wave, state, outcome } of this.targets) {
      const counters = byWave.get(wave) ?? { ...sumOf([]) };
      counters.total += 1;
      const counter = state === 'DECIDED' ? outcomeCounters[outcome ?? 'UNKNOWN'] : stateCounters[state];
      counters[counter] += 1;
      byWave.set(wave, counters);
    }
    return byWave;
  }

  #lastDecidedAt(number: number): number {
    return Math.max(...this.targets.filter(({ wave }) => wave === number).map(({ decidedAt }) => decidedAt));
  }

  #recover(): number {
    const known = new Set([...this.calls, ...this.batches.flat(), ...this.ends.map(({ target }) => target)]);
    const lost = this.targets.filter((target) => target.state === 'DISPATCHING' && !known.has(target));
    for (const target of lost)
      Object.assign(target, this.row.idempotent ? { state: 'READY' } : { state: 'DECIDED', outcome: 'UNKNOWN' });
    return lost.length;
  }

  #openWave(from: number): void {
    if (this.row.state !== 'RUNNING' || this.row.currentWave !== Math.max(from, 1)) return;
    if (from === 1)
      for (const { wave, state } of this.targets)
        expect(wave > 1 || state === 'DECIDED' || state === 'WAITING_DEVICE', 'the canary is decided').toBe(true);
    this.row = { ...this.row, currentWave: from + 1, version: this.row.version };
    this.waves = this.waves.map((wave) => ({
      ...wave,
      openedAt: wave.number === from + 1 ? (wave.openedAt ?? this.now) : wave.openedAt,
      closedAt: wave.number === from ? this.now : wave.closedAt,
    }));
  }

  #openTargets(): number {
    const opened = this.targets.filter(({ state, wave }) => state === 'PENDING' && wave <= this.row.currentWave);
    for (const target of opened.slice(0, 3)) target.state = target.isOnline ? 'READY' : 'WAITING_DEVICE';
    return Math.min(opened.length, 3);
  }

  #releaseRetries(): TaskReport {
    const waiting = this.targets.filter(({ state }) => state === 'RETRY_WAIT');
    const due = waiting.filter(({ readyAt }) => readyAt <= this.now);
    for (const target of due) target.state = 'READY';
    const left = waiting.filter(({ state }) => state === 'RETRY_WAIT').map(({ readyAt }) => readyAt);
    return { kind: 'retriesReleased', count: due.length, nextAt: left.length === 0 ? undefined : Math.min(...left) };
  }

  #claim(limit: number): number {
    if (this.row.state !== 'RUNNING') return 0;
    const ready = this.targets.filter(({ state, readyAt }) => state === 'READY' && readyAt <= this.now);
    const picked = ready.slice(0, limit);
    for (const target of picked) {
      target.claims += 1;
      if (target.isOnline) Object.assign(target, { state: 'DISPATCHING', attempts: target.attempts + 1 });
      else target.state = 'WAITING_DEVICE';
    }
    const claimed = picked.filter(({ state }) => state === 'DISPATCHING');
    if (claimed.length === 0) return 0;
    this.batches.push(claimed);
    this.claims.push({ at: this.now, count: claimed.length });
    return claimed.length;
  }

  #endNeverSent(outcome: 'CANCELLED' | 'EXPIRED'): number {
    const left = this.targets.filter(({ state }) => state !== 'DECIDED' && state !== 'DISPATCHING');
    for (const target of left)
      Object.assign(target, { state: 'DECIDED', outcome: target.state === 'RETRY_WAIT' ? 'FAILED' : outcome });
    return left.length;
  }
}
