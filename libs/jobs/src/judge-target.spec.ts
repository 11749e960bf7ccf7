import type { CallOutcome, CallOutcomeKind } from '@flotilla/mcp';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgeTarget } from './judge-target.js';

const answer = (text: string): CallOutcome => ({
  kind: 'SUCCEEDED',
  certainty: 'YES',
  result: { content: [{ type: 'text', text }], isError: false },
});
const notSent = (code: 'DEVICE_OFFLINE' | 'OVERLOADED' | 'REQUEST_TOO_LARGE' | 'UNAVAILABLE'): CallOutcome => ({
  kind: 'NOT_SENT',
  certainty: 'NEVER',
  error: { code, message: 'because' },
});
const waits = { offline: 'WAIT' } as const;

describe('judgeTarget', () => {
  it('decides what the device answered, and keeps the answer', () => {
    expect(judgeTarget(answer('true'), waits)).toEqual({
      kind: 'decided',
      decision: { outcome: 'SUCCEEDED', certainty: 'YES', error: undefined },
      result: { content: [{ type: 'text', text: 'true' }], isError: false },
    });
  });

  it.each([
    ['WAIT', { kind: 'waiting' }],
    ['SKIP', { kind: 'decided', decision: { outcome: 'SKIPPED', certainty: 'NEVER' } }],
    ['FAIL', { kind: 'decided', decision: { outcome: 'REJECTED', error: { code: 'DEVICE_OFFLINE' } } }],
  ] as const)('treats a device that is away as the job says: %s', (offline, verdict) => {
    expect(judgeTarget(notSent('DEVICE_OFFLINE'), { offline })).toMatchObject(verdict);
  });

  it('tries again what a busy device did not take, and gives up on what the wire refuses', () => {
    expect(judgeTarget(notSent('OVERLOADED'), waits)).toEqual({ kind: 'ready', delayMs: 1_000 });
    expect(judgeTarget(notSent('REQUEST_TOO_LARGE'), waits)).toMatchObject({
      decision: { outcome: 'REJECTED', certainty: 'NEVER' },
    });
  });

  it.each(['WAIT', 'SKIP', 'FAIL'] as const)(
    'waits while Redis is away, also where the job says %s for devices that are',
    (offline) => {
      expect(judgeTarget(notSent('UNAVAILABLE'), { offline })).toEqual({
        kind: 'ready',
        delayMs: 1_000,
      });
    },
  );

  it('never sends again what may have reached the device', () => {
    const anyOutcome = fc.record({
      kind: fc.constantFrom<CallOutcomeKind>('SUCCEEDED', 'FAILED', 'REJECTED', 'UNKNOWN', 'NOT_SENT'),
      certainty: fc.constantFrom('NEVER', 'MAYBE', 'YES'),
      error: fc.constantFrom(
        { code: 'TIMEOUT', message: '' } as const,
        { code: 'DEVICE_OFFLINE', message: '' } as const,
        { code: 'OVERLOADED', message: '' } as const,
      ),
    });
    const anyJob = fc.record({ offline: fc.constantFrom('WAIT', 'SKIP', 'FAIL') });
    fc.assert(
      fc.property(anyOutcome, anyJob, (outcome, job) => {
        if (outcome.kind !== 'NOT_SENT') expect(judgeTarget(outcome as CallOutcome, job).kind).toBe('decided');
      }),
    );
  });
});
