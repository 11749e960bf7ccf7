/** The jobs that the model runs, and the ends of its calls. */
import type { CallOutcome, JobId } from '@flotilla/mcp';
import type { AbortRule } from '../../abort/abort-rule.js';
import type { HealthGate } from '../../health/health-gate.js';
import { jobLifeMsDefault } from '../../job-limits.js';
import type { Job, Verification } from '../../job-types.js';
import type { DailyWindow } from '../../schedule/daily-window.js';
import { verificationTimes } from '../../verification/verification-times.js';
import type { VerificationTimes } from '../../verification/verification-times.js';
import type { WaveSpec } from '../../waves/wave.js';

export interface WorldOptions {
  readonly targetCount: number;
  readonly maxInFlight?: number;
  readonly idempotent?: boolean;
  readonly perMinute?: number | undefined;
  readonly waves?: readonly WaveSpec[];
  readonly abortRules?: readonly AbortRule[];
  readonly verification?: Verification;
  readonly healthGate?: HealthGate;
  readonly window?: DailyWindow;
}

/** Times of seconds instead of minutes: a run of the model has some hundred seconds. */
export const modelTimes: VerificationTimes = {
  ...verificationTimes,
  rebootMs: 8_000,
  firmwareMs: 12_000,
  soakMs: 2_000,
  overdueMs: 2_000,
  leaseMs: 1_000,
  rejoinMs: 4_000,
  readbackMs: 6_000,
};

export const modelReadback = { tool: 'self.lamp.get', path: 'lamp.level', argument: 'level' };

export const answered: CallOutcome = {
  kind: 'SUCCEEDED',
  certainty: 'YES',
  result: { content: [], isError: false },
};
export const failed: CallOutcome = {
  kind: 'FAILED',
  certainty: 'YES',
  error: { code: 'DEVICE_ERROR', message: 'broken' },
};
export const unanswered: CallOutcome = {
  kind: 'UNKNOWN',
  certainty: 'YES',
  error: { code: 'TIMEOUT', message: 'no answer' },
};
export const busy: CallOutcome = {
  kind: 'NOT_SENT',
  certainty: 'NEVER',
  error: { code: 'OVERLOADED', message: 'busy' },
};
export const offline: CallOutcome = {
  kind: 'NOT_SENT',
  certainty: 'NEVER',
  error: { code: 'DEVICE_OFFLINE', message: 'offline' },
};

export function jobOf(options: WorldOptions, now: number): Job {
  return {
    id: 'job' as JobId,
    name: undefined,
    tool: 'self.lamp.set',
    arguments: { level: 1 },
    state: 'PREPARING',
    conclusion: undefined,
    pauseReason: undefined,
    isCancelForced: false,
    version: 1,
    offline: 'WAIT',
    expiresAt: now + jobLifeMsDefault,
    callTimeoutMs: 1_000,
    maxInFlight: options.maxInFlight ?? 4,
    idempotent: options.idempotent ?? false,
    disruptive: false,
    disconnectExpected: false,
    failureText: undefined,
    verification: options.verification ?? 'NONE',
    readback: modelReadback,
    skipIfSatisfied: false,
    maxAttempts: options.idempotent === true ? 3 : 1,
    perMinute: options.perMinute,
    priority: 2,
    waves: options.waves ?? [],
    currentWave: 1,
    abortRules: options.abortRules ?? [],
    trippedRule: undefined,
    healthGate: options.healthGate,
    startAt: undefined,
    window: options.window,
    firmwareImageId: undefined,
    parentJobId: undefined,
    approvedBy: undefined,
    total: undefined,
    createdBy: 'spec',
    createdById: 'KEY:spec',
    mayCallUserOnly: false,
    createdAt: now,
    startedAt: undefined,
    finishedAt: undefined,
  } as Job;
}
