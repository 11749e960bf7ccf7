/**
 * What all parts of one job's run share: its fence, its machine, its end, and retries of
 * statements.
 */
import { decidedPerMessageMax } from '@flotilla/bus';
import type { RunSignal, RunState, VerificationTimes } from '@flotilla/jobs';
import type { DeviceId, JobId } from '@flotilla/mcp';
import type { JobFence, JobStores, Registry } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import type { JobBus } from '../job-bus.js';
import type { SingleCalls } from '../../calls/single-calls.js';
import type { CallRules } from '../../calls/call-rules.js';
import { FleetError } from '../../fleet-error.js';
import type { FleetLogger } from '../../fleet-logger.js';
import type { RolloutDeps } from '../../rollout/image-sends.js';
import type { StatementQueue } from '../dispatch/statement-queue.js';
import { defaultTuning } from '../run-tuning.js';
import type { StartRules } from './check-start.js';
import type { RunTuning } from '../run-tuning.js';

export interface RunDeps extends StartRules {
  readonly registry: Pick<Registry, 'events' | 'firmwareImages' | 'restarts' | 'toolSets' | keyof JobStores>;
  readonly bus: Pick<JobBus, 'calls' | 'feed'>;
  readonly clock: Clock;
  readonly logger: FleetLogger;
  readonly callRules: Pick<CallRules, 'refuse'>;
  readonly verification: VerificationTimes;
  readonly rollout: RolloutDeps;
  /** The single calls of this process, which jobs make room for. */
  readonly singleCalls: Pick<SingleCalls, 'areExpected'>;
  /** Specs shorten times. */
  readonly tuning?: Partial<RunTuning>;
}

/** The machine of a run, as its parts see it. */
interface RunMachine {
  readonly state: () => RunState;
  readonly signal: (signal: RunSignal) => void;
}

/** First and longest wait before a failed statement is tried again, ms. */
const retryDelayMs = { first: 100, longest: 5_000 };

export class RunContext implements RunMachine {
  readonly state: () => RunState;
  readonly signal: (signal: RunSignal) => void;
  readonly tuning: RunTuning;
  #isClosed = false;

  constructor(
    readonly deps: RunDeps,
    readonly fence: JobFence,
    /** For the statements that move many targets. */
    readonly statements: StatementQueue,
    { state, signal }: RunMachine,
  ) {
    this.state = state;
    this.signal = signal;
    this.tuning = { ...defaultTuning, ...deps.tuning };
  }

  get jobId(): JobId {
    return this.fence.jobId;
  }

  /** From then on nothing may be sent or written: another process may own the job. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  close(): void {
    this.#isClosed = true;
  }

  /** Notifies those who follow the job; PostgreSQL knows already. */
  publishDecided(deviceIds: readonly DeviceId[]): void {
    for (let from = 0; from < deviceIds.length; from += decidedPerMessageMax)
      this.deps.bus.feed.publish('decided', {
        jobId: this.jobId,
        deviceIds: deviceIds.slice(from, from + decidedPerMessageMax),
      });
  }

  /**
   * Repeats a statement until it succeeds: each is fenced, and compares before it sets.
   * Throws FleetError RUN_ENDED.
   */
  readonly persist = async <Result>(what: string, statement: () => Promise<Result>): Promise<Result> => {
    for (let delayMs = retryDelayMs.first; ; delayMs = Math.min(delayMs * 2, retryDelayMs.longest)) {
      if (this.#isClosed)
        throw new FleetError('RUN_ENDED', `The run of job ${this.jobId} ended before it could ${what}.`);
      try {
        return await statement();
      } catch (error) {
        this.deps.logger.warn({ err: error, jobId: this.jobId, retryInMs: delayMs }, `could not ${what}`);
      }
      await new Promise<void>((resolve) => this.deps.clock.setTimer(delayMs, resolve));
    }
  };
}
