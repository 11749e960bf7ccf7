/**
 * The row of the job that a run works on: read again when it may have changed, moved only by compare and set. Rows have their secrets masked, so the arguments
 * are those that the run began with; they never change.
 */
import { nextJobState } from '@flotilla/jobs';
import type { Job, JobEvent } from '@flotilla/jobs';
import { jobActionOf } from '@flotilla/registry';
import type { JobMove } from '@flotilla/registry';
import { FleetError } from '../../fleet-error.js';
import { writeJobEvent } from '../job-event.js';
import type { RunContext } from './run-context.js';

export class JobRow {
  readonly #run: RunContext;
  readonly #onMoved: () => void;
  #job: Job;
  #isStale = false;

  /** `onMoved` runs after each transition made here. */
  constructor(run: RunContext, job: Job, onMoved: () => void) {
    this.#run = run;
    this.#job = job;
    this.#onMoved = onMoved;
  }

  get value(): Job {
    return this.#job;
  }

  get isStale(): boolean {
    return this.#isStale;
  }

  markStale(): void {
    this.#isStale = true;
  }

  async refresh(): Promise<void> {
    this.#isStale = false;
    const job = await this.#run.persist('read the job', () => this.#run.deps.registry.jobs.find(this.#run.jobId));
    if (job === undefined) throw new FleetError('JOB_LOST', `The row of live job ${this.#run.jobId} is gone.`);
    this.#job = { ...job, arguments: this.#job.arguments };
  }

  /** False where the event means nothing in this state, or somebody else moved the job first: the row is stale then. */
  async move(event: JobEvent, why: Omit<JobMove, 'state'> = {}): Promise<boolean> {
    const { clock, logger, registry } = this.#run.deps;
    const state = nextJobState(this.#job, event);
    if (state === undefined) return false;
    const moved = await this.#run.persist('move the job', () =>
      registry.jobs.transition(this.#job, { state, ...why }, clock.now()),
    );
    if (moved === undefined) {
      this.markStale();
      return false;
    }
    writeJobEvent(this.#run.deps, jobActionOf(this.#job.state, moved), moved);
    this.#job = { ...moved, arguments: this.#job.arguments };
    logger.info(
      { jobId: moved.id, state, conclusion: moved.conclusion, pauseReason: moved.pauseReason },
      'a job moved',
    );
    this.#onMoved();
    return true;
  }
}
