/** What every part of one job's run shares: its fence, its end, and patience with a database that is away. */
import type { VerificationTimes } from '@flotilla/jobs';
import type { DeviceId, JobId } from '@flotilla/mcp';
import type { JobFence, Registry } from '@flotilla/registry';
import { decidedPerMessageMax } from '@flotilla/bus';
import type { Clock } from '@flotilla/session';
import { FleetError } from '../../fleet-error.js';
import type { FleetLogger } from '../../fleet-logger.js';
import type { RolloutDeps } from '../../rollout/image-sends.js';
import type { JobBus } from '../../calls/observe-calls.js';
import type { SingleCalls } from '../../calls/single-calls.js';
import type { ToolGate } from '../../calls/tool-gate.js';
import { defaultTuning } from '../run-tuning.js';
import type { RunTuning } from '../run-tuning.js';
import type { StatementTurns } from '../dispatch/statement-turns.js';

export interface RunDeps {
  readonly registry: Pick<Registry, 'events' | 'jobs' | 'toolSets'>;
  readonly bus: Pick<JobBus, 'calls' | 'feed'>;
  readonly clock: Clock;
  readonly logger: FleetLogger;
  readonly gate: Pick<ToolGate, 'refuse'>;
  readonly verification: VerificationTimes;
  readonly rollout: RolloutDeps;
  /** Those of this process, which jobs make room for. */
  readonly singleCalls: Pick<SingleCalls, 'areExpected'>;
  /** Shortened by specs. */
  readonly tuning?: Partial<RunTuning>;
}

/** First and longest pause before a failed statement is tried again, ms. */
const retryDelayMs = { first: 100, longest: 5_000 };

export class RunContext {
  readonly deps: RunDeps;
  readonly fence: JobFence;
  readonly tuning: RunTuning;
  /** For the statements that move many targets. */
  readonly turns: StatementTurns;
  /** Of the image of a roll-out: how long a device may take depends on it. */
  imageBytes: number | undefined;
  #isEnded = false;

  constructor(deps: RunDeps, fence: JobFence, turns: StatementTurns) {
    this.deps = deps;
    this.fence = fence;
    this.tuning = { ...defaultTuning, ...deps.tuning };
    this.turns = turns;
  }

  get jobId(): JobId {
    return this.fence.jobId;
  }

  /** Once true nothing may be sent or written any more: another process may own the job. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  end(): void {
    this.#isEnded = true;
  }

  /** Tells those who follow the job; PostgreSQL knows already. */
  tellDecided(deviceIds: readonly DeviceId[]): void {
    for (let from = 0; from < deviceIds.length; from += decidedPerMessageMax)
      this.deps.bus.feed.publish('decided', {
        jobId: this.jobId,
        deviceIds: deviceIds.slice(from, from + decidedPerMessageMax),
      });
  }

  /**
   * Runs a statement until it succeeds. Every statement of a run may be repeated: it is fenced and compares before it sets. Throws FleetError RUN_ENDED.
   */
  async persist<Result>(what: string, statement: () => Promise<Result>): Promise<Result> {
    for (let delayMs = retryDelayMs.first; ; delayMs = Math.min(delayMs * 2, retryDelayMs.longest)) {
      if (this.#isEnded)
        throw new FleetError('RUN_ENDED', `The run of job ${this.jobId} ended before it could ${what}.`);
      try {
        return await statement();
      } catch (error) {
        this.deps.logger.warn({ err: error, jobId: this.jobId, retryInMs: delayMs }, `could not ${what}`);
      }
      await new Promise<void>((resolve) => this.deps.clock.setTimer(delayMs, resolve));
    }
  }
}
