/** The terms of a job: what its request asks for, the defaults, and the policy of its tool. */
import {
  defaultAbortRules,
  jobLifeMsDefault,
  maxAttemptsDefault,
  maxInFlightDefault,
  priorityDefault,
} from '@flotilla/jobs';
import type { ToolPolicy } from '@flotilla/jobs';
import type { PolicyCache } from '../../policies/policy-cache.js';
import { jobOfImage } from '../../rollout/rollout-request.js';
import type { PlannedRollout } from '../../rollout/rollout-request.js';
import type { JobRequest } from './job-request.js';

export interface PolicyDeps {
  readonly policies: PolicyCache;
}

/** With the image, where it is a roll-out. */
export interface AskedJob {
  readonly request: JobRequest;
  readonly image?: PlannedRollout['image'] | undefined;
}

/** The policy of the tool. A roll-out is always disruptive. */
export async function policyFor({ policies }: PolicyDeps, { request, image }: AskedJob): Promise<ToolPolicy> {
  return { ...(await policies.policyOf(request.tool)), ...(image && jobOfImage(image)) };
}

/** For what a request leaves out. */
export const jobDefaults = {
  offline: 'WAIT',
  expiresInSeconds: jobLifeMsDefault / 1_000,
  maxInFlight: maxInFlightDefault,
  priority: priorityDefault,
  maxAttempts: maxAttemptsDefault,
  skipIfSatisfied: false,
} as const;

/** What was asked, the defaults, and what the tool's policy says now. */
export function termsOf(request: JobRequest, policy: ToolPolicy, createdAt: number) {
  return { ...boundsOf(request, createdAt), ...policyOf(request, policy) };
}

/** How far and how fast: what was asked, or the defaults. */
function boundsOf(request: JobRequest, createdAt: number) {
  return {
    offline: request.offline ?? jobDefaults.offline,
    // The time runs from the start of the job, not from its creation.
    expiresAt: (request.startAt ?? createdAt) + (request.expiresInSeconds ?? jobDefaults.expiresInSeconds) * 1_000,
    maxInFlight: request.maxInFlight ?? jobDefaults.maxInFlight,
    perMinute: request.perMinute,
    priority: request.priority ?? jobDefaults.priority,
    waves: request.waves ?? [],
    skipIfSatisfied: request.skipIfSatisfied ?? jobDefaults.skipIfSatisfied,
    healthGate: request.health,
    startAt: request.startAt,
    window: request.window,
  } as const;
}

/** What the tool's policy says now: a later change of it does not change this job's promises. */
function policyOf(request: JobRequest, policy: ToolPolicy) {
  return {
    callTimeoutMs: request.callTimeoutMs ?? policy.callTimeoutMs,
    idempotent: policy.idempotent,
    disruptive: policy.disruptive,
    disconnectExpected: policy.disconnectExpected,
    failureText: policy.failureText,
    verification: request.verification ?? policy.verification,
    readback: policy.readback,
    maxAttempts: policy.idempotent ? (request.maxAttempts ?? jobDefaults.maxAttempts) : 1,
    abortRules: request.abort ?? defaultAbortRules({ disruptive: policy.disruptive, waves: request.waves ?? [] }),
  };
}
