/**
 * The live jobs that this process owns: takes them over, passes notifications on, and releases
 * them. Decides nothing about targets.
 */
import type { DeviceId, JobId } from '@flotilla/mcp';
import type { JobFence, ProcessLease } from '@flotilla/registry';
import { argumentsLost } from './arguments-lost.js';
import { JobRun } from './engine/job-run.js';
import { ReturningDevices } from './returning-devices.js';
import type { RunDeps } from './engine/run-context.js';
import { defaultTuning } from './run-tuning.js';
import { SlotPool } from './dispatch/slot-pool.js';
import { StatementQueue } from './dispatch/statement-queue.js';

interface OwnedRun {
  readonly fence: JobFence;
  readonly run: JobRun;
  readonly done: Promise<void>;
}

/** Lets another worker take a job. */
type WakeWorkers = (jobId: JobId) => Promise<void>;

/** Time that calls in flight get to settle when the process stops, ms. */
const drainMs = 2_000;

export class JobRunner {
  readonly #deps: RunDeps;
  readonly #lease: Pick<ProcessLease, 'id' | 'lost'>;
  readonly #runs = new Map<JobId, OwnedRun>();
  readonly #taking = new Set<JobId>();
  readonly #returning: ReturningDevices;
  readonly #slots: SlotPool;
  readonly #statements: StatementQueue;
  #unsubscribe: readonly (() => void)[] = [];
  #isStopped = false;
  /** While this worker hands over. */
  #wakeWorkers: WakeWorkers | undefined;

  constructor(deps: RunDeps, lease: Pick<ProcessLease, 'id' | 'lost'>) {
    this.#deps = deps;
    this.#lease = lease;
    this.#statements = new StatementQueue(deps.singleCalls);
    this.#slots = new SlotPool(deps.clock, deps.tuning?.jobsInFlightMax ?? defaultTuning.jobsInFlightMax);
    this.#returning = new ReturningDevices(deps.clock, (deviceIds) => this.#wakeDevices(deviceIds));
    void lease.lost.then(() => this.abandon());
  }

  /** Begins to listen to the feed. Work comes with `drive` and `sweep`. */
  start(): void {
    const { feed } = this.#deps.bus;
    this.#unsubscribe = [
      // Progress messages wake the owner as well. The row is read at most twice a second.
      feed.subscribe('job', ({ jobId }) => this.#runs.get(jobId)?.run.signal({ kind: 'rowChanged' })),
      feed.subscribe('device', ({ deviceId, presence }) => {
        if (presence === 'ONLINE' && this.#runs.size > 0) this.#returning.add(deviceId);
      }),
      feed.subscribe('lateAnswer', ({ callId, outcome }) => {
        for (const { run } of this.#runs.values()) run.signal({ kind: 'lateAnswer', callId, outcome: outcome.kind });
      }),
    ];
  }

  /** A job that runs here reads its row again; one without a living owner is taken over. */
  async drive(jobId: JobId): Promise<void> {
    const owned = this.#runs.get(jobId);
    if (owned !== undefined) return owned.run.signal({ kind: 'rowChanged' });
    if (this.#isStopped || this.#taking.has(jobId)) return;
    this.#taking.add(jobId);
    try {
      await this.#takeOver(jobId);
    } finally {
      this.#taking.delete(jobId);
    }
  }

  /**
   * Finds all live jobs in PostgreSQL, so that ticks may be lost; drops jobs that another process
   * took.
   */
  async sweep(): Promise<void> {
    // A run that begins while the jobs are read is newer than what is read of it.
    const earlier = new Map(this.#runs);
    for (const { id, ownerIsAlive, owner } of await this.#deps.registry.targetQueue.liveJobs()) {
      const owned = this.#runs.get(id);
      if (owner !== this.#lease.id && owned !== undefined && owned === earlier.get(id)) owned.run.abandon();
      if (!ownerIsAlive || owner === this.#lease.id) await this.drive(id);
    }
  }

  /** Sends nothing more, lets calls in flight settle for a short while, writes what is known. */
  async stop(): Promise<void> {
    this.#end();
    await Promise.all([...this.#runs.values()].map((owned) => this.#stopRun(owned, drainMs)));
  }

  /**
   * Gives each job up as soon as its calls in flight have settled, within `graceMs`; `wakeWorkers`
   * lets another worker take it.
   */
  async handOver(graceMs: number, wakeWorkers: WakeWorkers): Promise<void> {
    this.#end();
    this.#wakeWorkers = wakeWorkers;
    await Promise.all(
      [...this.#runs.values()].map(async (owned) => {
        await this.#stopRun(owned, graceMs);
        await this.#release(owned.fence, wakeWorkers);
      }),
    );
  }

  /** Ends at once, as this process may no longer own anything. */
  abandon(): void {
    this.#end();
    for (const { run } of this.#runs.values()) run.abandon();
  }

  #end(): void {
    this.#isStopped = true;
    this.#returning.end();
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#unsubscribe = [];
  }

  async #stopRun({ run, done }: OwnedRun, graceMs: number): Promise<void> {
    await run.stop(graceMs);
    await done;
  }

  /** The successor also decides about calls that did not settle in time. */
  async #release(fence: JobFence, wakeWorkers: WakeWorkers): Promise<void> {
    const { logger, registry } = this.#deps;
    try {
      await registry.targetQueue.releaseOwnership(fence);
      await wakeWorkers(fence.jobId);
    } catch (err) {
      logger.warn({ err, jobId: fence.jobId }, 'could not hand a job over; another worker takes it after the lease');
    }
  }

  async #takeOver(jobId: JobId): Promise<void> {
    const { registry, logger } = this.#deps;
    const fence = await registry.targetQueue.takeOwnership(jobId, this.#lease.id);
    const job = fence === undefined ? undefined : await registry.jobs.find(jobId);
    if (fence === undefined || job === undefined) return;
    const args = await registry.jobCommands.argumentsOf(jobId);
    // The hand-over did not know this job yet.
    if (this.#isStopped && this.#wakeWorkers !== undefined) await this.#release(fence, this.#wakeWorkers);
    if (args === undefined || this.#isStopped) return;
    if (args === 'lost')
      logger.error({ jobId }, 'the secret arguments of a job were encrypted with another key; its calls are rejected');
    const deps = args === 'lost' ? { ...this.#deps, callRules: argumentsLost } : this.#deps;
    const asked = args === 'lost' ? job : { ...job, arguments: args };
    const run = new JobRun(deps, { slots: this.#slots, statements: this.#statements }, fence, asked);
    const done = run
      .work()
      .catch((error: unknown) =>
        logger.error({ err: error, jobId }, 'the run of a job failed; the sweep starts it again'),
      )
      .finally(() => this.#runs.delete(jobId));
    this.#runs.set(jobId, { run, done, fence });
  }

  async #wakeDevices(deviceIds: readonly DeviceId[] | undefined): Promise<void> {
    await Promise.all([...this.#runs.values()].map(({ run }) => run.wakeDevices(deviceIds)));
  }
}
