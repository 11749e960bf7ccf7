import type { CallOutcome } from '@flotilla/mcp';
import { describe, expect, it } from 'vitest';
import { isFailure, judgeAttempt } from './attempt-end.js';
import type { EndedAttempt } from './attempt-end.js';
import { verificationDeadlines, verificationTimes } from './verification/verification-times.js';

const result = { content: [], isError: false };
const succeeded: CallOutcome = { kind: 'SUCCEEDED', certainty: 'YES', result };
const timedOut: CallOutcome = { kind: 'UNKNOWN', certainty: 'YES', error: { code: 'TIMEOUT', message: 'no answer' } };
const busy: CallOutcome = { kind: 'NOT_SENT', certainty: 'NEVER', error: { code: 'OVERLOADED', message: 'busy' } };
const offline: CallOutcome = {
  kind: 'NOT_SENT',
  certainty: 'NEVER',
  error: { code: 'DEVICE_OFFLINE', message: 'offline' },
};
const plain = {
  failureText: undefined,
  firmwareImageId: undefined,
  idempotent: false,
  maxAttempts: 1,
  readback: undefined,
  offline: 'WAIT',
  verification: 'NONE',
} as const;
const readback = { tool: 'get', path: 'value', argument: 'value' };
const rules = { verification: verificationTimes, imageBytes: undefined, chance: () => 0.5, now: 10_000 };
const attempt = (outcome: CallOutcome, more: Partial<EndedAttempt> = {}): EndedAttempt => ({
  outcome,
  sentAt: 5_000,
  settledAt: 9_000,
  attempts: 1,
  baselineVersion: '1.0.0',
  ...more,
});

describe('the end of an attempt', () => {
  it('is the outcome of the call where nothing is verified', () => {
    expect(judgeAttempt(plain, attempt(succeeded), rules)).toEqual({
      end: { kind: 'decided', outcome: 'SUCCEEDED', certainty: 'YES', error: undefined, result },
      restMs: undefined,
    });
  });

  it('is a failure where the answer is exactly the failure text of the policy', () => {
    const job = { ...plain, failureText: 'false' };
    const answer = (text: string) =>
      attempt({ ...succeeded, result: { content: [{ type: 'text', text }], isError: false } });
    expect(judgeAttempt(job, answer('false'), rules).end).toMatchObject({
      outcome: 'FAILED',
      error: { code: 'DEVICE_ERROR' },
    });
    expect(judgeAttempt(job, answer('falsehood'), rules).end).toMatchObject({ outcome: 'SUCCEEDED' });
    expect(judgeAttempt(plain, answer('false'), rules).end).toMatchObject({ outcome: 'SUCCEEDED' });
  });

  it('is a retry of an idempotent tool, as long as the job has attempts left', () => {
    const job = { ...plain, idempotent: true, maxAttempts: 2 };
    expect(judgeAttempt(job, attempt(timedOut), rules).end).toMatchObject({ kind: 'retry', notBefore: 12_500 });
    expect(judgeAttempt(job, attempt(timedOut, { attempts: 2 }), rules).end).toMatchObject({ outcome: 'UNKNOWN' });
  });

  it('is no attempt where nothing was sent, and a busy gateway keeps the slot for a while', () => {
    expect(judgeAttempt(plain, attempt(offline), rules)).toEqual({ end: { kind: 'waiting' }, restMs: undefined });
    const { end, restMs } = judgeAttempt(plain, attempt(busy), rules);
    expect(end).toEqual({ kind: 'ready', notBefore: 10_000 + (restMs ?? 0) });
    expect(restMs).toBeGreaterThan(0);
  });

  it('is a verification whose deadlines begin when the call was sent', () => {
    const job = { ...plain, verification: 'FIRMWARE' } as const;
    const { deadlineMs, softMs } = verificationDeadlines('FIRMWARE', verificationTimes);
    expect(judgeAttempt(job, attempt(timedOut), rules).end).toMatchObject({
      kind: 'verifying',
      deadlineAt: 5_000 + deadlineMs,
      softDeadlineAt: 5_000 + (softMs ?? 0),
      readAt: undefined,
    });
  });

  it('is a read of the value some time after the answer', () => {
    const job = { ...plain, verification: 'READBACK', readback } as const;
    const { readbackDelayMs, readbackMs } = verificationTimes;
    expect(judgeAttempt(job, attempt(succeeded), rules).end).toMatchObject({
      kind: 'verifying',
      deadlineAt: 9_000 + readbackMs,
      readAt: 9_000 + readbackDelayMs,
    });
    expect(judgeAttempt({ ...job, readback: undefined }, attempt(succeeded), rules).end.kind).toBe('decided');
  });

  it('of an upgrade that was answered is decided, but not in a roll-out, which knows its downloads', () => {
    const job = { ...plain, verification: 'FIRMWARE' } as const;
    const { end } = judgeAttempt(job, attempt(succeeded), rules);
    expect(end).toMatchObject({ kind: 'decided', error: { code: 'UPDATE_DID_NOT_START_OR_FAILED' } });
    expect(end.kind === 'decided' && end.error?.message).toContain('asks the device to restart');
    const rollout = { ...job, firmwareImageId: 'image' };
    expect(judgeAttempt(rollout, attempt(succeeded), rules).end.kind).toBe('verifying');
  });

  it('is a failure for abort rules unless the target is as it should be', () => {
    expect(isFailure(judgeAttempt(plain, attempt(timedOut), rules).end)).toBe(true);
    expect(isFailure(judgeAttempt(plain, attempt(succeeded), rules).end)).toBe(false);
    expect(isFailure({ kind: 'waiting' })).toBe(false);
  });
});
