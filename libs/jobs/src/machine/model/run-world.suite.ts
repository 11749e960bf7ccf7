/** A small world around the machine: the model of PostgreSQL, gateways, devices and a clock. */
import type { CallOutcome } from '@flotilla/mcp';
import { assert } from 'vitest';
import { isFailure } from '../../attempt-end.js';
import type { AttemptEnd } from '../../attempt-end.js';
import type { VerificationEnd } from '../../verification/verification-end.js';
import type { HealthEvidence } from '../../health/health-gate.js';
import { modelTimes } from './model-job.suite.js';
import type { WorldOptions } from './model-job.suite.js';
import { ModelRows } from './model-rows.suite.js';
import { endOf } from './model-target.suite.js';
import type { ModelTarget, UnwrittenEnd } from './model-target.suite.js';
import { checkVerdict, failedTarget, readEnd } from './model-verification.suite.js';
import { reportOf } from './report-task.suite.js';
import type { RunEffect, RunSignal, RunTask, TaskReport } from '../run-input.js';
import { step } from '../run-machine.js';
import { maySend, slotsTaken, startRun } from '../run-state.js';
import type { RunState } from '../run-state.js';

const rules = { verification: modelTimes, stragglerAfterMs: 60_000 };

export class World {
  now = 1_000_000_000;
  readonly rows: ModelRows;
  run: RunState;
  task: RunTask | undefined;
  sleepsUntil: number | undefined;
  /** Calls that a gateway has and did not settle. */
  calls: ModelTarget[] = [];
  /** Reads of values that have no answer. */
  readonly reads: ModelTarget[] = [];
  /** Claimed batches that are not handed over. */
  readonly batches: (readonly ModelTarget[])[] = [];
  readonly ends: UnwrittenEnd[] = [];
  readonly readEnds: VerificationEnd[] = [];
  readonly rests: number[] = [];
  /** When, and how many. */
  readonly claims: { readonly at: number; readonly count: number }[] = [];
  readonly restarted: ModelTarget[] = [];
  isOver = false;
  /** What the restarts of the devices look like; nothing by default. */
  health: (() => HealthEvidence) | undefined;
  /** Since the start of this process, the deadlines of verifications were extended. */
  isExtended = false;
  /** The failures when the counters were last read. */
  failuresCounted = 0;
  #hubStartedAt = this.now;
  #isWaking = false;

  constructor(options: WorldOptions) {
    this.rows = new ModelRows(options, this.now);
    this.run = startRun(rules, this.rows.job, this.now);
  }

  begin(): void {
    this.signal({ kind: 'started' });
  }

  /** The process dies with all that it had in memory, and another one takes the job over. */
  restart(): void {
    for (const target of this.calls) target.sends += 1;
    for (const lost of [this.calls, this.reads, this.batches, this.ends, this.readEnds, this.rests]) lost.length = 0;
    for (const { device } of this.rows.targets) if (device.isOnline) device.connect(this.now);
    Object.assign(this, { task: undefined, sleepsUntil: undefined });
    this.#hubStartedAt = this.now;
    this.isExtended = false;
    this.run = startRun(rules, this.rows.job, this.now);
    this.begin();
  }

  signal(input: RunSignal | TaskReport): void {
    const { run, effects } = step(this.run, { ...input, now: this.now, rowsMax: 500 });
    this.run = run;
    for (const effect of effects) this.#carryOut(effect);
    assert(this.isOver || this.task !== undefined || this.sleepsUntil !== undefined, 'the run waits for something');
    if (!this.#isWaking) return;
    this.#isWaking = false;
    const count = this.rows.wakeWaiting();
    if (count > 0) this.signal({ kind: 'devicesWoken', count });
  }

  #carryOut(effect: RunEffect): void {
    switch (effect.kind) {
      case 'sleep':
        assert(effect.ms > 0, 'a sleep takes time');
        this.sleepsUntil = this.now + effect.ms;
        return;
      case 'send':
      case 'notify':
      case 'withdraw':
      case 'flush':
        return;
      case 'restartDevices':
        for (const { deviceId } of effect.devices) this.restarted.push(failedTarget(this.rows, deviceId));
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
        assert(this.task === undefined, 'one task at a time');
        this.task = effect;
        this.sleepsUntil = undefined;
        this.#checkTask(effect);
    }
  }

  #checkTask(task: RunTask): void {
    if (task.kind === 'claim') this.#checkClaim(task.limit);
    if (task.kind === 'beginReads') this.#checkSlots(task.limit);
    if (task.kind === 'readVerifying') assert(this.isExtended, 'deadlines are extended before a look');
    if (task.kind !== 'writeVerifications') return;
    const moment = { now: this.now, hubStartedAt: this.#hubStartedAt };
    for (const end of task.ends) checkVerdict(this.rows, end, moment);
  }

  #checkSlots(limit: number): void {
    const taken = this.calls.length + this.batches.flat().length + this.rests.length + this.reads.length;
    assert.strictEqual(slotsTaken(this.run), taken);
    assert(limit > 0 && taken + limit <= this.rows.job.maxInFlight, 'no more than may be in flight');
  }

  #checkClaim(limit: number): void {
    this.#checkSlots(limit);
    if (this.rows.job.abortRules.length === 0) return;
    assert(!this.ends.some(({ to }) => isFailure(to)), 'failures are written before a claim');
    assert.strictEqual(this.rows.failures, this.failuresCounted, 'written failures are counted before a claim');
  }

  /** Hands the oldest batch over, or a part of it. What may not be sent now is put back. */
  sendBatch(handedOver = Infinity): void {
    const batch = this.batches.shift();
    if (batch === undefined) return;
    const handed = batch.slice(0, handedOver);
    for (const target of handed) {
      if (maySend(this.run)) this.calls.push(target);
      else this.#end(target, { kind: 'ready' }, undefined);
    }
    this.signal({ kind: 'batchSent', unsent: batch.length - handed.length });
  }

  /** The gateway settles one call. */
  settle(index: number, outcome: CallOutcome): void {
    const [target] = this.calls.splice(index % Math.max(1, this.calls.length), 1);
    if (target === undefined) return;
    if (outcome.certainty !== 'NEVER') target.sends += 1;
    const { end, restMs } = endOf(this.run.job, target, outcome, this.now);
    this.#end(target, end, restMs);
  }

  #end(target: ModelTarget, to: AttemptEnd, restMs: number | undefined): void {
    this.ends.push({ target, claims: target.claims, to });
    this.signal({ kind: 'targetEnded', isFailure: isFailure(to), restMs });
  }

  /** The device answers a read of its value, or not. */
  endRead(index: number, isAnswered: boolean): void {
    const [target] = this.reads.splice(index % Math.max(1, this.reads.length), 1);
    if (target === undefined) return;
    this.signal({ kind: 'readEnded' });
    if (!isAnswered) return;
    this.readEnds.push(readEnd(target));
    this.signal({ kind: 'readEndsWait' });
  }

  /** A call is answered that the gateway had given up. */
  answerLate(index: number, outcome: 'SUCCEEDED' | 'FAILED'): ModelTarget | undefined {
    const unanswered = this.rows.inState('VERIFYING').filter(({ error }) => error?.code === 'TIMEOUT');
    const target = unanswered[index % Math.max(1, unanswered.length)];
    if (target !== undefined) this.signal({ kind: 'lateAnswer', callId: target.callId, outcome });
    return target;
  }

  /** Writes what waits. */
  flush(): void {
    const ends = this.ends.splice(0);
    if (ends.length > 0) this.signal({ kind: 'flushed', flushed: this.rows.flush(ends, this.now) });
  }

  /** An operator, or another process, moves the job. */
  steer(event: 'pause' | 'resume' | 'cancel', isForced = false): void {
    if (this.rows.steer(event, isForced)) this.signal({ kind: 'rowChanged' });
  }

  advance(ms: number): void {
    // A look takes no time: the next one would wait for twenty times as long.
    while (this.run.verifying.look !== undefined && this.task !== undefined) this.perform();
    this.now += ms;
    for (const due of this.rests.filter((at) => at <= this.now)) {
      this.rests.splice(this.rests.indexOf(due), 1);
      this.signal({ kind: 'restEnded' });
    }
    if (this.sleepsUntil === undefined || this.sleepsUntil > this.now) return;
    this.sleepsUntil = undefined;
    this.signal({ kind: 'timePassed' });
  }

  /** Sets the clock back. Waits take as long as before. */
  setBack(ms: number): void {
    this.now -= ms;
    for (const [index, due] of this.rests.entries()) this.rests[index] = due - ms;
    if (this.sleepsUntil !== undefined) this.sleepsUntil -= ms;
  }

  /** Completes the task that is under way. */
  perform(): void {
    if (this.task === undefined) return;
    const report = reportOf(this, this.task);
    this.task = undefined;
    this.signal(report);
  }

  /** Completes all tasks until the run sleeps. */
  performAll(): void {
    while (this.task !== undefined) this.perform();
  }
}
