/** The model of PostgreSQL: the row of a job, its waves and targets, and the statements on them. */
import type { CallError, CallId, DeviceId } from '@flotilla/mcp';
import { assert } from 'vitest';
import { isFailure } from '../../attempt-end.js';
import type { AttemptEnd } from '../../attempt-end.js';
import { nextJobState } from '../../job-transitions.js';
import type { Job, JobProgress } from '../../job-types.js';
import { planWaves } from '../../waves/plan-waves.js';
import type { Wave } from '../../waves/wave.js';
import { ModelDevice } from './model-device.suite.js';
import { jobOf } from './model-job.suite.js';
import type { WorldOptions } from './model-job.suite.js';
import { counterOf } from './model-target.suite.js';
import type { ModelState, ModelTarget, UnwrittenEnd } from './model-target.suite.js';
import type { FlushedBatch, RunMove } from '../run-input.js';
import { sumOf } from '../../job-progress.js';

const restarted: CallError = { code: 'HUB_RESTARTED', message: 'The hub stopped while this call was in flight.' };

export class ModelRows {
  job: Job;
  waves: readonly Wave[];
  readonly targets: readonly ModelTarget[];
  /** Counts that the counters of the last wave have lost. */
  #lost: readonly (keyof JobProgress)[] = [];

  constructor(options: WorldOptions, now: number) {
    this.job = jobOf(options, now);
    const planned = planWaves(options.targetCount, this.job.waves);
    this.waves = planned.map((wave) => ({
      ...wave,
      openedAt: undefined,
      closedAt: undefined,
      approvedBy: undefined,
    }));
    const waveOf = (index: number): number => {
      let end = 0;
      for (const { number, size } of planned) if (index < (end += size)) return number;
      return 1;
    };
    this.targets = Array.from({ length: options.targetCount }, (_, index) => ({
      device: new ModelDevice(`device-${index}` as DeviceId, now),
      wave: waveOf(index),
      state: planned.length > 0 ? 'PENDING' : 'READY',
      outcome: undefined,
      error: undefined,
      claims: 0,
      attempts: 0,
      sends: 0,
      readyAt: 0,
      decidedAt: 0,
      callId: '' as CallId,
      sentEpoch: 0,
      startedAt: 0,
      baseline: '',
      leftBefore: 0,
      verifyingSince: 0,
      deadlineAt: 0,
      softDeadlineAt: undefined,
      readAt: Infinity,
    }));
  }

  /** What the rows say. */
  get progress(): JobProgress {
    return sumOf([...this.#byWaveOfRows().values()]);
  }

  /** What the counters say. */
  get counted(): JobProgress {
    return sumOf([...this.byWave().values()]);
  }

  /** The counters say one less than the rows. The gate of the last wave is never judged. */
  loseCount(counter: keyof JobProgress): void {
    if (this.progress[counter] > 0) this.#lost = [...this.#lost, counter];
  }

  /** Corrects the counters. Returns by how much they differed from the rows. */
  recount(): number {
    const drift = this.#lost.length;
    this.#lost = [];
    return drift;
  }

  get failures(): number {
    return this.targets.filter(({ outcome }) => outcome === 'FAILED' || outcome === 'UNKNOWN').length;
  }

  inState(...states: readonly ModelState[]): readonly ModelTarget[] {
    return this.targets.filter(({ state }) => states.includes(state));
  }

  byWave(): ReadonlyMap<number, JobProgress> {
    const byWave = this.#byWaveOfRows();
    const last = byWave.get(Math.max(...byWave.keys()));
    if (last !== undefined) for (const counter of this.#lost) last[counter] -= 1;
    return byWave;
  }

  #byWaveOfRows(): Map<number, Record<keyof JobProgress, number>> {
    const byWave = new Map<number, Record<keyof JobProgress, number>>();
    for (const target of this.targets) {
      const counters = byWave.get(target.wave) ?? { ...sumOf([]) };
      counters.total += 1;
      counters[counterOf(target)] += 1;
      byWave.set(target.wave, counters);
    }
    return byWave;
  }

  /** Devices that are away although they should be back, by wave. */
  overdue(now: number): ReadonlyMap<number, number> {
    const byWave = new Map<number, number>();
    for (const { device, softDeadlineAt, wave } of this.inState('VERIFYING'))
      if (!device.isOnline && (softDeadlineAt ?? Infinity) <= now) byWave.set(wave, (byWave.get(wave) ?? 0) + 1);
    return byWave;
  }

  /** False where the event means nothing in the state of the job. */
  steer(event: 'pause' | 'resume' | 'cancel', isForced: boolean): boolean {
    const state = nextJobState(this.job, event);
    const isForcedNow = isForced && this.job.state === 'CANCELLING' && !this.job.isCancelForced;
    if (state === undefined && !isForcedNow) return false;
    if (event === 'resume' && this.job.pauseReason === 'WAVE_GATE') this.#approveWave();
    this.job = {
      ...this.job,
      state: state ?? this.job.state,
      version: this.job.version + 1,
      pauseReason: event === 'pause' ? 'USER' : undefined,
      ...(event === 'cancel' && { conclusion: 'CANCELLED', isCancelForced: isForced }),
    };
    return true;
  }

  move({ state, pauseReason, conclusion, ...tripped }: RunMove): void {
    const { trippedRule = this.job.trippedRule, trippedHealthGate = this.job.trippedHealthGate } = tripped;
    const reasons = { pauseReason, conclusion, trippedRule, trippedHealthGate };
    this.job = { ...this.job, state, ...reasons, version: this.job.version + 1 };
  }

  prepare(): void {
    this.job = { ...this.job, total: this.targets.length };
  }

  #approveWave(): void {
    const { currentWave } = this.job;
    this.waves = this.waves.map((wave) => (wave.number === currentWave ? { ...wave, approvedBy: 'operator' } : wave));
  }

  openWave(from: number, now: number): void {
    if (this.job.state !== 'RUNNING' || this.job.currentWave !== Math.max(from, 1)) return;
    if (from === 1)
      for (const { wave, state } of this.targets)
        assert(wave > 1 || state === 'DECIDED' || state === 'WAITING_DEVICE', 'the canary is decided');
    this.job = { ...this.job, currentWave: from + 1 };
    this.waves = this.waves.map((wave) => ({
      ...wave,
      openedAt: wave.number === from + 1 ? (wave.openedAt ?? now) : wave.openedAt,
      closedAt: wave.number === from ? now : wave.closedAt,
    }));
  }

  openTargets(): number {
    const opened = this.inState('PENDING').filter(({ wave }) => wave <= this.job.currentWave);
    for (const target of opened.slice(0, 3)) target.state = target.device.isOnline ? 'READY' : 'WAITING_DEVICE';
    return Math.min(opened.length, 3);
  }

  lastDecidedAt(number: number | undefined): number {
    const targets = this.targets.filter(({ wave }) => number === undefined || wave === number);
    return Math.max(...targets.map(({ decidedAt }) => decidedAt));
  }

  releaseRetries(now: number): { readonly count: number; readonly nextAt: number | undefined } {
    const due = this.inState('RETRY_WAIT').filter(({ readyAt }) => readyAt <= now);
    for (const target of due) target.state = 'READY';
    const left = this.inState('RETRY_WAIT').map(({ readyAt }) => readyAt);
    return { count: due.length, nextAt: left.length === 0 ? undefined : Math.min(...left) };
  }

  /** Devices are online again, and some targets wait for them. */
  wakeWaiting(): number {
    const woken = this.inState('WAITING_DEVICE').filter(({ device }) => device.isOnline);
    for (const target of woken) target.state = 'READY';
    return woken.length;
  }

  claim(limit: number, now: number): readonly ModelTarget[] {
    if (this.job.state !== 'RUNNING') return [];
    const picked = this.inState('READY')
      .filter(({ readyAt }) => readyAt <= now)
      .slice(0, limit);
    for (const target of picked) {
      target.claims += 1;
      if (target.device.isOnline) {
        Object.assign(target, { state: 'DISPATCHING', attempts: target.attempts + 1, error: undefined });
        const { device, claims } = target;
        Object.assign(target, { callId: `${device.id}/${claims}`, sentEpoch: device.epoch, startedAt: now });
        Object.assign(target, { baseline: String(device.version), leftBefore: device.leftAt.length });
      } else target.state = 'WAITING_DEVICE';
    }
    return picked.filter(({ state }) => state === 'DISPATCHING');
  }

  flush(ends: readonly UnwrittenEnd[], now: number): FlushedBatch {
    let retryAt = Infinity;
    for (const { target, claims, to } of ends) {
      // A target that a forced cancel decided meanwhile keeps its outcome.
      if (target.state !== 'DISPATCHING' || target.claims !== claims) continue;
      const { attempts } = target;
      if (to.kind === 'decided') Object.assign(target, { state: 'DECIDED', outcome: to.outcome, decidedAt: now });
      if (to.kind === 'waiting') Object.assign(target, { state: 'WAITING_DEVICE', attempts: attempts - 1 });
      if (to.kind === 'ready')
        Object.assign(target, { state: 'READY', attempts: attempts - 1, readyAt: to.notBefore ?? 0 });
      if (to.kind === 'retry') {
        Object.assign(target, { state: 'RETRY_WAIT', readyAt: to.notBefore });
        retryAt = Math.min(retryAt, to.notBefore);
      }
      if (to.kind === 'verifying') {
        const { deadlineAt, softDeadlineAt, error, readAt = Infinity } = to;
        const verifying = { state: 'VERIFYING', verifyingSince: now, deadlineAt, softDeadlineAt, error, readAt };
        Object.assign(target, verifying);
      }
    }
    const hasKind = (kind: AttemptEnd['kind']) => ends.some(({ to }) => to.kind === kind);
    return {
      count: ends.length,
      failures: ends.filter(({ to }) => isFailure(to)).length,
      retryAt,
      isSomeReady: hasKind('ready'),
      isSomeVerifying: hasKind('verifying'),
    };
  }

  /** The targets that an owner left in flight. */
  recover(lost: readonly ModelTarget[], deadlineMs: number, now: number): void {
    const { idempotent, verification } = this.job;
    for (const target of lost) {
      target.error = restarted;
      if (idempotent) target.state = 'READY';
      else if (verification === 'NONE') Object.assign(target, { state: 'DECIDED', outcome: 'UNKNOWN', decidedAt: now });
      else {
        const deadlineAt = target.startedAt + deadlineMs;
        Object.assign(target, { state: 'VERIFYING', verifyingSince: now, deadlineAt, readAt: now });
      }
    }
  }

  endNeverSent(outcome: 'CANCELLED' | 'EXPIRED'): number {
    const left = this.inState('PENDING', 'READY', 'WAITING_DEVICE', 'RETRY_WAIT');
    for (const target of left)
      Object.assign(target, { state: 'DECIDED', outcome: target.state === 'RETRY_WAIT' ? 'FAILED' : outcome });
    return left.length;
  }

  endInFlight(): number {
    const left = this.inState('DISPATCHING', 'VERIFYING');
    for (const target of left) Object.assign(target, { state: 'DECIDED', outcome: 'UNKNOWN' });
    return left.length;
  }
}
