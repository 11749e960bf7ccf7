/**
 * Answers to calls that were given up: each corrects its UNKNOWN target once, also in a finished
 * job. Any worker may do it, as the statement changes a target only once. Answers wait while
 * PostgreSQL is away. One that is lost leaves its target UNKNOWN, which stays true.
 */
import { decidedPerMessageMax } from '@flotilla/bus';
import { applyFailureText } from '@flotilla/jobs';
import type { CallId, CallOutcome, DeviceId, JobId } from '@flotilla/mcp';
import { RegistryError } from '@flotilla/registry';
import type { CorrectedTarget, LateAnswer, LateTarget } from '@flotilla/registry';
import type { RunDeps } from '../engine/run-context.js';
import { defaultTuning } from '../run-tuning.js';

/** Answers that wait at a time; more are dropped. */
const waitingMax = 10_000;
/** Answers of one statement: their targets fit into one message of the feed. */
const answersPerWrite = decidedPerMessageMax;
/**
 * Looks for a target whose end may not be written yet: a second of PostgreSQL's work. Answers to
 * single calls have no target.
 */
const looksMax = 10;

interface WaitingAnswer {
  readonly outcome: CallOutcome;
  readonly looks: number;
}

export class LateAnswers {
  readonly #gatherMs: number;
  readonly #waiting = new Map<CallId, WaitingAnswer>();
  #cancelTimer: (() => void) | undefined;
  #unsubscribe: (() => void) | undefined;

  constructor(private readonly deps: RunDeps) {
    this.#gatherMs = deps.tuning?.lateAnswerMs ?? defaultTuning.lateAnswerMs;
  }

  start(): void {
    this.#unsubscribe = this.deps.bus.feed.subscribe('lateAnswer', ({ callId, outcome }) =>
      this.#add(callId, { outcome, looks: 0 }),
    );
  }

  stop(): void {
    this.#unsubscribe?.();
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#waiting.clear();
  }

  #add(callId: CallId, answer: WaitingAnswer): void {
    if (this.#waiting.size >= waitingMax) return;
    this.#waiting.set(callId, answer);
    this.#cancelTimer ??= this.deps.clock.setTimer(this.#gatherMs, () => void this.#work());
  }

  /** One batch at a time: the timer counts as pending until it is through. */
  async #work(): Promise<void> {
    const batch = [...this.#waiting].slice(0, answersPerWrite);
    for (const [callId] of batch) this.#waiting.delete(callId);
    try {
      await this.#correct(new Map(batch));
    } catch (error) {
      const isAway = error instanceof RegistryError && error.code === 'DATABASE_UNAVAILABLE';
      if (isAway) for (const [callId, answer] of batch) this.#waiting.set(callId, answer);
      const what = isAway ? 'trying again' : 'their targets stay UNKNOWN';
      this.deps.logger.warn({ err: error, answers: batch.length }, `could not record late answers; ${what}`);
    }
    if (this.#cancelTimer === undefined) return;
    this.#cancelTimer = undefined;
    if (this.#waiting.size > 0) this.#cancelTimer = this.deps.clock.setTimer(this.#gatherMs, () => void this.#work());
  }

  async #correct(batch: ReadonlyMap<CallId, WaitingAnswer>): Promise<void> {
    const { registry, bus } = this.deps;
    const targets = await registry.targetQueue.lateTargets([...batch.keys()]);
    const found = new Set(targets.map(({ callId }) => callId));
    for (const [callId, answer] of batch)
      if (!found.has(callId) && answer.looks < looksMax)
        this.#waiting.set(callId, { ...answer, looks: answer.looks + 1 });
    const answers = targets.flatMap((target) => judge(target, batch.get(target.callId)?.outcome));
    if (answers.length === 0) return;
    for (const [jobId, deviceIds] of byJob(await registry.targetQueue.correctUnknown(answers))) {
      bus.feed.publish('job', { jobId });
      bus.feed.publish('decided', { jobId, deviceIds });
    }
  }
}

function byJob(targets: readonly CorrectedTarget[]): ReadonlyMap<JobId, readonly DeviceId[]> {
  const jobs = new Map<JobId, DeviceId[]>();
  for (const { jobId, deviceId } of targets) jobs.set(jobId, [...(jobs.get(jobId) ?? []), deviceId]);
  return jobs;
}

/** A success counts only where an answer is evidence enough; a failure always does. */
function judge(
  { callId, failureText, verification }: LateTarget,
  late: CallOutcome | undefined,
): readonly LateAnswer[] {
  if (late === undefined) return [];
  const { kind, error, result } = applyFailureText(late, failureText);
  if (kind !== 'FAILED' && (kind !== 'SUCCEEDED' || verification !== 'NONE')) return [];
  return [{ callId, outcome: kind, error, result }];
}
