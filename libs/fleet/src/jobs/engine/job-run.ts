/**
 * The shell of one live job in the process that owns it: passes events to the machine in libs/jobs
 * and carries out its effects. It decides nothing. The rows in PostgreSQL are the truth, so this
 * process may be killed at any time.
 */
import { startRun, step } from '@flotilla/jobs';
import type { Job, RunEffect, RunInput, RunSignal, RunState, RunTask, TaskReport } from '@flotilla/jobs';
import type { DeviceId } from '@flotilla/mcp';
import type { JobFence } from '@flotilla/registry';
import { FleetError } from '../../fleet-error.js';
import type { SlotPool } from '../dispatch/slot-pool.js';
import type { StatementQueue } from '../dispatch/statement-queue.js';
import { TargetDispatch } from '../dispatch/target-dispatch.js';
import { eligibilityOfJob } from '../eligibility-check.js';
import { Readbacks } from '../verification/readbacks.js';
import { restartStuckDevice } from '../verification/restart-stuck-device.js';
import { ProgressNotifications } from './progress-notifications.js';
import { RunContext } from './run-context.js';
import type { RunDeps } from './run-context.js';
import { RunTasks } from './run-tasks.js';

export class JobRun {
  readonly #context: RunContext;
  readonly #dispatch: TargetDispatch;
  readonly #notifications: ProgressNotifications;
  readonly #tasks: RunTasks;
  #state: RunState;
  #cancelSleep: (() => void) | undefined;
  /** Ends when the last wake-up of waiting targets is done. */
  #waking = Promise.resolve();
  #finish: (error?: unknown) => void = () => undefined;
  readonly #finished: Promise<void>;

  /** `shared`: by all jobs of this process. */
  constructor(
    deps: RunDeps,
    shared: { readonly slots: SlotPool; readonly statements: StatementQueue },
    fence: JobFence,
    job: Job,
  ) {
    const context = new RunContext(deps, fence, shared.statements, {
      state: () => this.#state,
      signal: (signal) => this.signal(signal),
    });
    const { stragglerAfterMs } = context.tuning;
    this.#state = startRun({ verification: deps.verification, stragglerAfterMs }, job, deps.clock.now());
    this.#context = context;
    this.#notifications = new ProgressNotifications(deps.bus.feed, deps.clock, job.id);
    const eligibility = eligibilityOfJob(deps, job, job.firmwareImageId !== undefined);
    this.#dispatch = new TargetDispatch(context, eligibility, shared.slots);
    const readbacks = job.readback && new Readbacks(context, job, job.readback, shared.slots);
    this.#tasks = new RunTasks(context, {
      dispatch: this.#dispatch,
      eligibility,
      readbacks,
      notifications: this.#notifications,
    });
    this.#finished = new Promise((resolve, reject) => {
      this.#finish = (error) => (error === undefined ? resolve() : reject(error as Error));
    });
  }

  /** Works until the job is finished, `stop` or `abandon`. */
  async work(): Promise<void> {
    try {
      this.signal({ kind: 'started' });
      await this.#finished;
    } catch (error) {
      if (!(error instanceof FleetError)) throw error;
      this.#context.deps.logger.warn({ err: error, jobId: this.#context.jobId }, 'the run of a job ended early');
    } finally {
      // The owner that takes the job over classifies what is still in flight.
      this.#context.close();
      this.#cancelSleep?.();
      this.#dispatch.close();
      this.#notifications.stop();
    }
  }

  /** Gives one thing that happened to the machine. */
  signal(signal: RunSignal): void {
    this.#step(signal);
  }

  /** These devices are online again; undefined: there are too many to name. */
  async wakeDevices(deviceIds: readonly DeviceId[] | undefined): Promise<void> {
    this.signal({ kind: 'devicesReturned', deviceIds });
    await this.#waking;
  }

  /** Sends nothing more, gives calls in flight `graceMs` to settle, and writes what is known. */
  async stop(graceMs: number): Promise<void> {
    this.signal({ kind: 'stop' });
    const cancelTimer = this.#context.deps.clock.setTimer(graceMs, () => this.abandon());
    await this.#finished.catch(() => undefined);
    cancelTimer();
  }

  /** Ends at once: the lease is lost, and another process may own the job already. */
  abandon(): void {
    this.#context.close();
    this.#finish();
  }

  #step(input: RunSignal | TaskReport): void {
    if (this.#context.isClosed) return;
    const at = { now: this.#context.deps.clock.now(), rowsMax: this.#context.statements.rowsMax };
    const { run, effects } = step(this.#state, Object.assign(at, input) as RunInput);
    this.#state = run;
    for (const effect of effects) this.#carryOut(effect);
  }

  #carryOut(effect: RunEffect): void {
    switch (effect.kind) {
      case 'sleep':
        return this.#sleep(effect.ms);
      case 'send':
        return this.#dispatch.send();
      case 'flush':
        return this.#dispatch.flush();
      case 'notify':
        return this.#notifications.sendSoon();
      case 'withdraw':
        return this.#dispatch.withdraw();
      case 'rest':
        this.#context.deps.clock.setTimer(effect.ms, () => this.signal({ kind: 'restEnded' }));
        return;
      case 'forgetCalls':
        return this.#dispatch.forgetCalls();
      case 'wakeWaiting':
        this.#waking = this.#wakeWaiting(effect.deviceIds);
        return;
      case 'restartDevices':
        for (const device of effect.devices) restartStuckDevice(this.#context, device);
        return;
      case 'end':
        return this.#finish();
      default:
        // All tasks.
        this.#cancelSleep?.();
        void this.#perform(effect);
    }
  }

  #sleep(ms: number): void {
    this.#cancelSleep?.();
    this.#cancelSleep = this.#context.deps.clock.setTimer(ms, () => this.signal({ kind: 'timePassed' }));
  }

  async #perform(task: RunTask): Promise<void> {
    try {
      this.#step(await this.#tasks.perform(task));
    } catch (error) {
      this.#finish(error);
    }
  }

  async #wakeWaiting(deviceIds: readonly DeviceId[] | undefined): Promise<void> {
    const { deps, fence, jobId } = this.#context;
    try {
      this.signal({ kind: 'devicesWoken', count: await deps.registry.targetQueue.wakeWaiting(fence, deviceIds) });
    } catch (error) {
      deps.logger.warn({ err: error, jobId }, 'could not wake waiting targets; the next check wakes them');
    }
  }
}
