/** What a running job's counters ask for: a stop, a pause before the next wave, or that wave. Reads them; the decisions are in libs/jobs. */
import { findTrippedRule, judgeGate } from '@flotilla/jobs';
import type { Job, JobProgress, RuleEvidence, TrippedRule, Wave } from '@flotilla/jobs';
import type { JobPace } from './job-pace.js';
import type { RunContext } from './run-context.js';

/** Targets of a wave that one statement makes ready: some tens of milliseconds. */
const openTargetsMax = 5_000;

export type JobStep =
  | { readonly kind: 'none' }
  | { readonly kind: 'stop'; readonly tripped: TrippedRule }
  | { readonly kind: 'hold'; readonly wave: number; readonly because: 'MANUAL' | 'THRESHOLD' }
  /** The next wave is open: the job's row has changed. */
  | { readonly kind: 'opened' };

const none: JobStep = { kind: 'none' };

export class JobSteps {
  readonly #run: RunContext;
  readonly #pace: JobPace;
  #waves: readonly Wave[] = [];
  /** Whether targets of an open wave may still be PENDING. */
  #isOpening = true;
  /** When to look again without a flush, ms since the Unix epoch. */
  #lookAt = Infinity;

  constructor(run: RunContext, pace: JobPace) {
    this.#run = run;
    this.#pace = pace;
  }

  /** Nothing is known any more of what happened while the job did not run. */
  reset(): void {
    this.#isOpening = true;
  }

  isDue(now: number): boolean {
    return now >= this.#lookAt;
  }

  /** Makes a portion of an opened wave's targets ready; resolves to whether there were any. */
  async openTargets(job: Job): Promise<boolean> {
    if (job.waves.length === 0 || !this.#isOpening) return false;
    const { deps, fence } = this.#run;
    const opened = await this.#run.persist('open targets', () =>
      deps.registry.jobs.openTargets(fence, openTargetsMax, deps.clock.now()),
    );
    this.#isOpening = opened > 0;
    return opened > 0;
  }

  /** Targets of opened waves that wait for nothing but their turn. */
  async readyOrRetrying(job: Job): Promise<number> {
    let pending = 0;
    for (const [wave, progress] of await this.#progress())
      if (wave <= job.currentWave || job.waves.length === 0) pending += progress.pending;
    return pending;
  }

  /** A trip is looked for before a gate. */
  async next(job: Job): Promise<JobStep> {
    this.#lookAt = Infinity;
    if (job.abortRules.length === 0 && job.waves.length === 0 && !this.#pace.isBounded) return none;
    const now = this.#run.deps.clock.now();
    const byWave = await this.#progress();
    const evidence = await this.#evidence(job, byWave, now);
    this.#pace.observe(evidence.job, now);
    const tripped = findTrippedRule(job, evidence, now);
    if (tripped !== undefined) return { kind: 'stop', tripped };
    return job.waves.length === 0 || job.total === 0 ? none : this.#throughGate(job, evidence.wave, now);
  }

  async #evidence(job: Job, byWave: ReadonlyMap<number, JobProgress>, now: number): Promise<RuleEvidence> {
    const { deps, jobId } = this.#run;
    const { overdueMs } = deps.verification;
    const overdue =
      job.verification === 'NONE'
        ? undefined
        : await this.#run.persist('count overdue targets', () => deps.registry.jobs.overdue(jobId, now, overdueMs));
    if (job.waves.length > 0) await this.#readWaves();
    return {
      job: sumOf([...byWave.values()]),
      wave: byWave.get(job.currentWave) ?? sumOf([]),
      overdue: {
        job: [...(overdue?.values() ?? [])].reduce((sum, count) => sum + count, 0),
        wave: overdue?.get(job.currentWave) ?? 0,
      },
      firstWaveSize: this.#waves[0]?.size ?? 0,
    };
  }

  async #throughGate(job: Job, progress: JobProgress, now: number): Promise<JobStep> {
    const wave = this.#waves.find(({ number }) => number === job.currentWave);
    if (wave === undefined) return none;
    if (wave.openedAt === undefined) return this.#open(0, now);
    if (wave.number === this.#waves.length) return none;
    const { deps, fence } = this.#run;
    const decidedAt =
      wave.soakSeconds === 0
        ? undefined
        : await this.#run.persist('read the last decision', () => deps.registry.jobs.lastDecidedAt(fence, wave.number));
    const { stragglerAfterMs } = this.#run.tuning;
    const step = judgeGate(wave, progress, { now, lastDecidedAt: decidedAt ?? wave.openedAt, stragglerAfterMs });
    switch (step.kind) {
      case 'open':
        return this.#open(wave.number, now);
      case 'hold':
        return { kind: 'hold', wave: wave.number, because: step.because };
      case 'wait':
        this.#lookAt = step.until ?? Infinity;
        return none;
    }
  }

  async #open(from: number, now: number): Promise<JobStep> {
    const { deps, fence } = this.#run;
    const isOpen = await this.#run.persist('open a wave', () => deps.registry.jobs.openWave(fence, from, now));
    // Where it is not, somebody moved the job, or the answer to an earlier try was lost: the row tells.
    this.#isOpening = true;
    if (isOpen) deps.logger.info({ jobId: fence.jobId, wave: from + 1 }, 'a wave of a job is open');
    return { kind: 'opened' };
  }

  async #readWaves(): Promise<void> {
    const { deps, jobId } = this.#run;
    const [waves] = await this.#run.persist('read the waves', () => deps.registry.jobs.waves([jobId]));
    this.#waves = waves ?? [];
  }

  async #progress(): Promise<ReadonlyMap<number, JobProgress>> {
    const { deps, jobId } = this.#run;
    const [byWave] = await this.#run.persist('read progress by wave', () => deps.registry.jobs.waveProgress([jobId]));
    return byWave ?? new Map<number, JobProgress>();
  }
}

const zero: JobProgress = {
  ...{
    total: 0,
    pending: 0,
    waitingDevice: 0,
    inFlight: 0,
    verifying: 0,
    succeeded: 0,
    noChange: 0,
    failed: 0,
    rejected: 0,
  },
  ...{ verifyFailed: 0, unknown: 0, expired: 0, cancelled: 0, skipped: 0 },
};
const counters = Object.keys(zero) as readonly (keyof JobProgress)[];

function sumOf(waves: readonly JobProgress[]): JobProgress {
  return waves.reduce(
    (sum, wave) =>
      Object.fromEntries(counters.map((counter) => [counter, sum[counter] + wave[counter]])) as unknown as JobProgress,
    zero,
  );
}
