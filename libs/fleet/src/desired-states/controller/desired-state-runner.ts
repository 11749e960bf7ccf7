/**
 * The controller of desired states: takes what has no owner, listens to what happens to devices,
 * and compares them. It looks at the present only, so any message may be lost or come twice.
 */
import { freshMs } from '@flotilla/desired-state';
import type { DeviceId, JobId } from '@flotilla/mcp';
import { ToolCaller } from '../../calls/call-tool.js';
import { PolicyCache } from '../../policies/policy-cache.js';
import { ComparisonLoop, batchMax } from './comparison-loop.js';
import { ComplianceReports } from './compliance-reports.js';
import type { DesiredStateRunnerDeps } from './controller-deps.js';
import { watchConvergence } from './convergence-watch.js';
import { DeviceQueue } from './device-queue.js';
import { FleetPasses } from './fleet-passes.js';
import type { LiveState } from './live-state.js';
import { LiveStates } from './live-states.js';
import { lookOfEnd, plainLook, readyLook } from './look.js';
import type { Look } from './look.js';
import { RecentValues } from './recent-values.js';
import { steerRollout } from './rollout-steering.js';
import { SetSender } from './set-sender.js';
import { SharedRuns } from './shared-runs.js';
import { SweepClock } from './sweep-clock.js';
import { TimerSet } from './timer-set.js';
import { ValueReader } from './value-reader.js';

/** Due entries and the devices of the sweep are looked at this often, ms. */
const stepMs = 1_000;
/** Least time between two readings of the desired states, ms. */
const loadEveryMs = 200;
/** Groups and rights of people change without a message to this process, ms. */
const reloadEveryMs = 3_000;
/** Calls whose look waits. The sweep finds the devices of more. */
const calledMax = 10_000;
/** From a call of others to its look, ms: the value has to settle. */
const calledAfterMs = 700;
/** Time that calls in flight get when the process stops, ms. */
const drainMs = 2_000;

export class DesiredStateRunner {
  readonly #states: LiveStates;
  readonly #queue = new DeviceQueue();
  readonly #comparisons: ComparisonLoop;
  readonly #reader: ValueReader;
  readonly #sender: SetSender;
  readonly #sweep: SweepClock;
  readonly #timers: TimerSet;
  readonly #reports: ComplianceReports;
  readonly #passes: FleetPasses;
  readonly #loads = new SharedRuns(() => this.#load());
  #unsubscribe: readonly (() => void)[] = [];
  #isStepping = false;
  #isStarted = false;
  #isStopped = false;
  #isLoadWanted = false;
  #loadedAt = -Infinity;
  #called = 0;

  constructor(private readonly deps: DesiredStateRunnerDeps) {
    const policies = new PolicyCache(deps.registry.toolPolicies, deps.clock, deps.bus.feed);
    this.#timers = new TimerSet(deps.clock);
    this.#reports = new ComplianceReports(deps, this.#timers);
    this.#states = new LiveStates(deps);
    const values = new RecentValues();
    this.#reader = new ValueReader(deps, policies, values);
    this.#sweep = new SweepClock(deps.registry.desiredStateQueue);
    // Single calls do not make room for sets, but the other way round.
    const caller = new ToolCaller({ ...deps, policies, singleCalls: { during: (call) => call() } });
    this.#sender = new SetSender(deps, {
      states: this.#states,
      queue: this.#queue,
      reader: this.#reader,
      caller,
      onEnd: (deviceId, id, end) => this.#comparisons.look(deviceId, lookOfEnd(id, end)),
      onLost: (deviceId) => this.#comparisons.look(deviceId, plainLook),
      onFree: () => this.#comparisons.start(),
    });
    this.#comparisons = new ComparisonLoop(deps, {
      states: this.#states,
      queue: this.#queue,
      values,
      reader: this.#reader,
      reports: this.#reports,
      timers: this.#timers,
      triedOn: (deviceId) => this.#sender.triedOn(deviceId),
      onStale: () => this.#loadSoon(),
      onCompared: () => this.#sender.pump(),
    });
    this.#passes = new FleetPasses(deps, {
      queue: this.#queue,
      timers: this.#timers,
      look: (deviceId, look) => this.#comparisons.look(deviceId, look),
      onEnd: (live) => this.#endPass(live),
    });
    void deps.lease.lost.then(() => this.#end());
  }

  /** Takes what has no owner and reads all again: at the start, and in each sweep of the worker. */
  async load(): Promise<void> {
    if (this.#isStopped) return;
    this.#start();
    await this.#loads.run();
  }

  /** Devices by state over what this process owns, for metrics. */
  counts(): ReadonlyMap<string, number> {
    const sums = new Map<string, number>();
    for (const { counts } of this.#states.all)
      for (const [state, count] of counts) sums.set(state, (sums.get(state) ?? 0) + count);
    return sums;
  }

  async stop(graceMs = drainMs): Promise<void> {
    this.#end();
    await this.#loads.ended();
    await this.#sender.stop(graceMs);
  }

  async handOver(graceMs: number): Promise<void> {
    const ids = this.#states.all.map(({ row }) => row.id);
    await this.stop(graceMs);
    const { bus, lease, logger, registry } = this.deps;
    try {
      await registry.desiredStateQueue.release(lease.id);
      for (const id of ids) bus.feed.publish('desiredState', { id });
    } catch (err) {
      logger.warn({ err }, 'could not hand desired states over; another worker takes them after the lease');
    }
  }

  #start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const { clock, bus } = this.deps;
    const { feed } = bus;
    this.#unsubscribe = [
      feed.subscribe('desiredState', () => this.#loadSoon()),
      feed.subscribe('access', () => this.#loadSoon()),
      feed.subscribe('policy', () => this.#loadSoon()),
      feed.subscribe('device', ({ deviceId, presence }) => {
        if (presence === 'ONLINE') this.#comparisons.look(deviceId, readyLook(clock.now()));
        else if (this.#sender.triedOn(deviceId) === undefined) this.#comparisons.look(deviceId, plainLook);
      }),
      feed.subscribe('called', ({ deviceId, tool }) => this.#lookAfterCall(deviceId, tool)),
      feed.subscribe('decided', ({ jobId, deviceIds }) => {
        if (this.#rollout(jobId) !== undefined)
          for (const deviceId of deviceIds) this.#comparisons.look(deviceId, plainLook);
      }),
      feed.subscribe('job', ({ jobId }) => {
        if (this.#rollout(jobId) !== undefined) this.#loadSoon();
      }),
    ];
    this.#timers.after(stepMs, () => void this.#step());
    this.#timers.after(reloadEveryMs, () => this.#reload());
  }

  #end(): void {
    this.#isStopped = true;
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#unsubscribe = [];
    this.#timers.end();
    this.#comparisons.stop();
    this.#reader.stop();
    this.#passes.end();
  }

  #reload(): void {
    this.#loadSoon();
    this.#timers.after(reloadEveryMs, () => this.#reload());
  }

  #rollout(jobId: JobId): LiveState | undefined {
    return this.#states.all.find(({ owned }) => owned.rollouts.some((rollout) => rollout.jobId === jobId));
  }

  #lookAfterCall(deviceId: DeviceId, tool: string): void {
    const isOurs = this.#states.all.some(({ row }) => row.tool === tool);
    if (!isOurs || this.#called >= calledMax) return;
    this.#called += 1;
    const { clock } = this.deps;
    const freshSince = clock.now();
    this.#timers.after(calledAfterMs, () => {
      this.#called -= 1;
      this.#comparisons.look(deviceId, { ...plainLook, freshSince });
    });
  }

  #loadSoon(): void {
    if (this.#isLoadWanted || this.#isStopped) return;
    this.#isLoadWanted = true;
    const dueInMs = this.#loadedAt + loadEveryMs - this.deps.clock.now();
    // At most the interval, also after the clock was set back.
    const delayMs = Math.min(loadEveryMs, Math.max(0, dueInMs));
    this.#timers.after(delayMs, () => {
      this.#isLoadWanted = false;
      void this.#loads.run();
    });
  }

  async #load(): Promise<void> {
    if (this.#isStopped) return;
    const { clock, logger } = this.deps;
    this.#loadedAt = clock.now();
    try {
      for (const change of await this.#states.load()) this.#passes.start(change);
      for (const live of this.#states.all) if (await steerRollout(this.deps, live)) this.#loadSoon();
    } catch (error) {
      logger.warn({ err: error }, 'could not read desired states; the next sweep tries again');
    }
  }

  async #endPass(live: LiveState): Promise<void> {
    live.isCompared = true;
    await watchConvergence(this.deps, live);
    this.#reports.notify(live.row.id);
  }

  /** What the time asks for: due entries, and the devices of the sweep. */
  async #step(): Promise<void> {
    if (this.#isStepping) return;
    this.#isStepping = true;
    try {
      await this.#lookAtDue();
    } catch (error) {
      this.deps.logger.warn({ err: error }, 'could not look for due entries of desired states; tries again');
    } finally {
      this.#isStepping = false;
      this.#timers.after(stepMs, () => void this.#step());
    }
  }

  async #lookAtDue(): Promise<void> {
    const { clock, registry } = this.deps;
    const ids = this.#states.all.map(({ row }) => row.id);
    if (ids.length === 0) return;
    const now = clock.now();
    for (const deviceId of await registry.desiredStateQueue.due(ids, now, 10 * batchMax))
      this.#comparisons.look(deviceId, plainLook);
    const sweep: Look = { ...plainLook, cause: 'SWEEP', freshSince: now - freshMs };
    for (const deviceId of await this.#sweep.due(now)) this.#comparisons.look(deviceId, sweep);
  }
}
