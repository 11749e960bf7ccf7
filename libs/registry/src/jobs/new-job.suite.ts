/** A job as callers create it, for specs here and in other libraries. */
import { randomUUID } from 'node:crypto';
import type { Job } from '@flotilla/jobs';
import type { JobId } from '@flotilla/mcp';
import type { JobCommands } from './commands/job-commands.js';
import type { EarlierJob, MissingImage, NewJob, OtherRun } from './commands/new-job.js';
import type { TargetFlush } from './queue/target-flush.js';
import type { ClaimedTarget } from './queue/target-queue.js';

/** Test time: any fixed moment. */
export const AT = Date.UTC(2026, 10, 21);

export function newJob(change: Partial<NewJob> = {}): NewJob {
  return {
    id: randomUUID() as JobId,
    name: undefined,
    tool: 'self.lamp.turn_on',
    arguments: {},
    devices: { all: true },
    offline: 'WAIT',
    expiresAt: AT + 86_400_000,
    callTimeoutMs: 60_000,
    maxInFlight: 200,
    idempotent: false,
    failureText: undefined,
    createdBy: 'spec',
    createdById: 'KEY:spec',
    state: 'PREPARING',
    disruptive: false,
    disconnectExpected: false,
    verification: 'NONE',
    readback: undefined,
    skipIfSatisfied: false,
    maxAttempts: 1,
    perMinute: undefined,
    priority: 2,
    waves: [],
    abortRules: [],
    startAt: undefined,
    window: undefined,
    firmwareImageId: undefined,
    parentJobId: undefined,
    mayCallUserOnly: true,
    createdAt: AT,
    idempotencyKey: randomUUID(),
    requestHash: 'hash',
    ...change,
  };
}

/** Creates one job, as its creator. */
export async function createJob(
  commands: JobCommands,
  job: NewJob,
): Promise<{ readonly kind: 'created'; readonly job: Job } | EarlierJob | MissingImage | OtherRun> {
  const created = await commands.createAll([job], { actor: job.createdBy });
  if (created.kind !== 'created') return created;
  const [made] = created.jobs;
  if (made === undefined) throw new TypeError('A created job is missing.');
  return { kind: 'created', job: made };
}

/** The end of a claim that was sent and answered. */
export function decided(target: ClaimedTarget, outcome: 'SUCCEEDED' | 'FAILED' = 'SUCCEEDED'): TargetFlush {
  const result = { content: [{ type: 'text', text: 'true' }], isError: false };
  return {
    deviceId: target.deviceId,
    claim: target.claim,
    to: { kind: 'decided', outcome, certainty: 'YES', error: undefined, result },
    startedAt: AT,
    at: AT + 5,
  };
}
