/**
 * The worker role: works on ticks, and adds the repeating ones. All of it may run twice or late.
 */
import type { Tick } from '@flotilla/bus';
import type { DeadProcesses, ProcessLease, Registry } from '@flotilla/registry';
import type { AlertWorker } from '../alerts/alert-worker.js';
import type { JobBus } from '../jobs/job-bus.js';
import { JobRunner } from '../jobs/job-runner.js';
import type { UploadRetention } from '../uploads/upload-retention.js';
import { LateAnswers } from '../jobs/verification/late-answers.js';
import type { DesiredStateRunner } from '../desired-states/controller/desired-state-runner.js';
import type { SignalsUpkeep } from '../signals/signals-upkeep.js';
import type { RecurringRuns } from '../recurring/recurring-runs.js';
import type { RunDeps } from '../jobs/engine/run-context.js';
import type { WebhookDeliveries } from '../webhooks/webhook-deliveries.js';

interface TickWorkerDeps extends RunDeps {
  readonly registry: RunDeps['registry'] & Pick<Registry, 'sweepDeadProcesses' | 'makePartitions'>;
  readonly bus: JobBus;
  readonly lease: Pick<ProcessLease, 'id' | 'lost'>;
  /** What removes old things, each by itself. */
  readonly retention?: readonly Pick<UploadRetention, 'run'>[];
  /** Without it, this process delivers no webhooks. */
  readonly webhooks?: Pick<WebhookDeliveries, 'wake' | 'stop'>;
  /** Without it, this process evaluates no alert rules. */
  readonly alerts?: Pick<AlertWorker, 'start' | 'stop'>;
  /** Without it, this process judges no restarts and makes no roll-ups. */
  readonly signals?: Pick<SignalsUpkeep, 'run' | 'stop'>;
  /** Without it, this process starts no recurring jobs. */
  readonly recurring?: Pick<RecurringRuns, 'runDue' | 'stop'>;
  /** Without it, this process keeps no desired states true. */
  readonly desired?: Pick<DesiredStateRunner, 'load' | 'stop' | 'handOver'>;
}

/** How late a job without an owner, or a device of a dead process, is noticed. */
const sweepEveryMs = 5_000;
/**
 * Without a sweep for so long, this process sweeps by itself: the queue loses its schedules with
 * its data or an interrupted tick, and makes them late when the wall clock of a process steps.
 */
const sweepAloneAfterMs = 3 * sweepEveryMs;
/** Partitions are made a week ahead: four tries a day are many. */
const partitionsEveryMs = 6 * 3_600_000;
/** How long something may stay beyond its time. */
const retentionEveryMs = 3_600_000;
/** Devices of a dead process that go offline: as many as a fast fleet does by itself. */
const announcedAtOnce = 1_000;
const announceEveryMs = 200;
/** A tick only starts work; a sweep must not wait behind partitions. */
const ticksAtATime = 4;

export class TickWorker {
  readonly #runner: JobRunner;
  readonly #lateAnswers: LateAnswers;
  #cancelWatch: () => void = () => undefined;
  #isEnding = false;
  #isStopped = false;

  constructor(private readonly deps: TickWorkerDeps) {
    this.#runner = new JobRunner(deps, deps.lease);
    this.#lateAnswers = new LateAnswers(deps);
  }

  /** Sweeps once, so that a restarted hub does not wait for the queue; then works ticks. */
  async start(): Promise<void> {
    const { ticks } = this.deps.bus;
    this.#runner.start();
    this.#lateAnswers.start();
    await this.#sweep();
    this.deps.alerts?.start();
    await ticks.work((tick) => this.#work(tick), ticksAtATime);
    await this.#schedule();
  }

  /** Hands running jobs over to other workers. Calls in flight have `graceMs` to settle. */
  async handOver(graceMs: number): Promise<void> {
    const { ticks } = this.deps.bus;
    this.#endWatch();
    await ticks.rest();
    await Promise.all([this.deps.alerts?.stop(), this.deps.recurring?.stop()]);
    await Promise.all([
      this.deps.desired?.handOver(graceMs),
      this.#runner.handOver(graceMs, (jobId) => ticks.add({ kind: 'job', jobId })),
    ]);
  }

  /** Drains the running jobs. Ticks that still come do nothing; closing the bus ends them. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#endWatch();
    this.#lateAnswers.stop();
    const { alerts, desired, recurring, signals, webhooks } = this.deps;
    const parts = [this.#runner, alerts, desired, recurring, signals, webhooks];
    await Promise.all(parts.map((part) => part?.stop()));
  }

  async #work(tick: Tick): Promise<void> {
    switch (tick.kind) {
      case 'job':
        return this.#runner.drive(tick.jobId);
      case 'sweep':
        return this.#sweep();
      case 'partitions':
        return this.deps.registry.makePartitions(this.deps.clock.now());
      case 'retention':
        await Promise.all((this.deps.retention ?? []).map((each) => each.run()));
        return;
      case 'webhooks':
        return this.deps.webhooks?.wake();
    }
  }

  #watch(): void {
    this.#cancelWatch();
    if (this.#isEnding) return;
    this.#cancelWatch = this.deps.clock.setTimer(sweepAloneAfterMs, () => void this.#sweepAlone());
  }

  async #sweepAlone(): Promise<void> {
    try {
      await this.#sweep();
      await this.#schedule();
    } catch (error) {
      this.deps.logger.warn({ err: error }, 'could not sweep without the tick queue; trying again');
    }
  }

  /** Schedules that exist stay as they are. */
  async #schedule(): Promise<void> {
    const { ticks } = this.deps.bus;
    await ticks.repeat({ kind: 'sweep' }, sweepEveryMs);
    await ticks.repeat({ kind: 'partitions' }, partitionsEveryMs);
    await ticks.repeat({ kind: 'retention' }, retentionEveryMs);
  }

  #endWatch(): void {
    this.#isEnding = true;
    this.#cancelWatch();
  }

  async #sweep(): Promise<void> {
    this.#watch();
    const { gone, events } = await this.deps.registry.sweepDeadProcesses();
    this.deps.webhooks?.wake();
    if (gone.length + events.length > 0) {
      const sizes = { devices: gone.length, sessions: events.length };
      this.deps.logger.info(sizes, 'closed the sessions of a dead hub process');
      this.#announceEnds({ gone, events });
    }
    this.deps.signals?.run();
    await this.deps.recurring?.runDue();
    await this.deps.desired?.load();
    await this.#runner.sweep();
  }

  /** In portions, because the feed drops what Redis and subscribers cannot take at once. */
  #announceEnds({ gone, events }: DeadProcesses): void {
    if (this.#isStopped) return;
    const { bus, clock } = this.deps;
    for (const deviceId of gone.slice(0, announcedAtOnce))
      bus.feed.publish('device', { deviceId, presence: 'OFFLINE' });
    for (const event of events.slice(0, announcedAtOnce)) bus.feed.publish('event', event);
    const rest = { gone: gone.slice(announcedAtOnce), events: events.slice(announcedAtOnce) };
    if (rest.gone.length + rest.events.length > 0) clock.setTimer(announceEveryMs, () => this.#announceEnds(rest));
  }
}
