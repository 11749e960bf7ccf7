import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgeFirmware, mayUpgradeAgain, overdueAt } from './judge-firmware.js';
import { judgeReboot } from './judge-reboot.js';
import { judgeVerification } from './judge-verification.js';
import type { VerificationEvidence } from './verification-evidence.js';
import { verificationTimes as times, verificationDeadlines } from './verification-times.js';

/** Sent at 0 on epoch 7; nothing seen since. */
const still: VerificationEvidence = {
  sentEpoch: 7,
  epoch: 7,
  isOnline: true,
  hasLeft: false,
  version: '2.3.0',
  baselineVersion: '2.3.0',
  expectedVersion: '2.4.0',
  backSince: undefined,
  lastByteAt: undefined,
  deadlineAt: 1_200_000,
  softDeadlineAt: 200_000,
};
const away: VerificationEvidence = { ...still, isOnline: false, hasLeft: true };
const back: VerificationEvidence = { ...still, epoch: 8, hasLeft: true };
const upgraded: VerificationEvidence = { ...back, version: '2.4.0', backSince: 30_000 };
const ends = (outcome: string, code?: string) => ({
  kind: 'decided',
  decision: { outcome, error: code === undefined ? undefined : (expect.objectContaining({ code }) as unknown) },
});

describe('judgeReboot', () => {
  it.each([
    ['greets on a later session', back, 100, ends('SUCCEEDED')],
    ['connects later and has not greeted', { ...back, isOnline: false }, 100, { kind: 'pending' }],
    ['has left', away, 100, { kind: 'pending' }],
    ['never left', still, 1_200_000, ends('VERIFY_FAILED', 'DID_NOT_RESTART')],
    ['left for good', away, 1_200_000, ends('UNKNOWN', 'LOST_AFTER_RESTART')],
    ['was deleted', { ...away, epoch: undefined }, 1_200_000, ends('UNKNOWN', 'LOST_AFTER_RESTART')],
    ['is back because the hub was away', { ...back, hasLeft: false }, 100, ends('UNKNOWN', 'HUB_RESTARTED')],
  ])('judges a device that %s', (_, evidence, now, verdict) => {
    expect(judgeReboot(evidence, now)).toEqual(verdict);
  });
});

describe('judgeFirmware', () => {
  it.each([
    ['runs the new version and is soaking', upgraded, 89_999, { kind: 'pending' }],
    ['runs the new version since the soak began', upgraded, 90_000, ends('SUCCEEDED')],
    ['left in its soak', { ...upgraded, isOnline: false }, 90_000, { kind: 'pending' }],
    ['is back from a soak that it left', { ...upgraded, epoch: 9 }, 95_000, ends('SUCCEEDED')],
    ['left in its soak for good', { ...upgraded, isOnline: false }, 1_200_000, ends('UNKNOWN', 'LOST_AFTER_UPDATE')],
    ['came back at the last moment', { ...upgraded, backSince: 1_199_000 }, 1_210_000, { kind: 'pending' }],
    ['was rolled back', { ...upgraded, epoch: 9, version: '2.3.0' }, 40_000, ends('VERIFY_FAILED', 'NOT_APPLIED_OR_ROLLED_BACK')],
    ['came back as it was', back, 20_000, ends('VERIFY_FAILED', 'NOT_APPLIED_OR_ROLLED_BACK')],
    ['came back with another version', { ...back, version: '2.9.9' }, 20_000, ends('VERIFY_FAILED', 'NOT_APPLIED_OR_ROLLED_BACK')],
    ['is loading', still, 199_999, { kind: 'pending' }],
    ['stays where it was', still, 200_000, ends('VERIFY_FAILED', 'UPDATE_DID_NOT_START_OR_FAILED')],
    ['is loading slowly', { ...still, lastByteAt: 199_000 }, 280_000, { kind: 'pending' }],
    ['stopped loading', { ...still, lastByteAt: 199_000 }, 289_000, ends('VERIFY_FAILED', 'UPDATE_DID_NOT_START_OR_FAILED')],
    ['is away', away, 1_199_999, { kind: 'pending' }],
    ['stays away', away, 1_200_000, ends('UNKNOWN', 'LOST_AFTER_UPDATE')],
  ])('judges a device that %s', (_, evidence, now, verdict) => {
    expect(judgeFirmware(evidence, times, now)).toEqual(verdict);
  });

  it('takes any other version for the new one where only an address was told', () => {
    const open = { ...upgraded, expectedVersion: undefined };
    expect(judgeFirmware(open, times, 90_000)).toEqual(ends('SUCCEEDED'));
    expect(judgeFirmware({ ...open, version: '2.3.0' }, times, 90_000)).toEqual(ends('VERIFY_FAILED', 'NOT_APPLIED_OR_ROLLED_BACK'));
  });

  it('allows a second go once, where it is allowed at all, to a device that runs what it ran before', () => {
    const rolledBack = judgeFirmware(back, times, 20_000);
    expect(mayUpgradeAgain(back, rolledBack, { made: 1, max: 3 })).toBe(true);
    expect(mayUpgradeAgain(back, rolledBack, { made: 1, max: 1 })).toBe(false);
    expect(mayUpgradeAgain(back, rolledBack, { made: 2, max: 3 })).toBe(false);
    expect(mayUpgradeAgain({ ...back, version: '2.9.9' }, rolledBack, { made: 1, max: 3 })).toBe(false);
    expect(mayUpgradeAgain(still, judgeFirmware(still, times, 200_000), { made: 1, max: 3 })).toBe(false);
  });

  it('counts a device as overdue soon after its download should be over, long before it gives it up', () => {
    const { deadlineMs, softMs } = verificationDeadlines('FIRMWARE', times, 3 * 1024 * 1024);
    expect({ deadlineMs, softMs }).toEqual({ deadlineMs: 1_200_000, softMs: 96_000 + 90_000 });
    expect(overdueAt({ softDeadlineAt: 186_000, lastByteAt: undefined }, times)).toBe(186_000);
    expect(overdueAt({ softDeadlineAt: 186_000, lastByteAt: 150_000 }, times)).toBe(240_000);
  });
});

describe('judgeVerification', () => {
  const anyEvidence: fc.Arbitrary<VerificationEvidence> = fc.record({
    sentEpoch: fc.constant(7),
    epoch: fc.constantFrom(undefined, 7, 8, 9),
    isOnline: fc.boolean(),
    hasLeft: fc.boolean(),
    version: fc.constantFrom(undefined, '2.3.0', '2.4.0', '9.9.9'),
    baselineVersion: fc.constantFrom(undefined, '2.3.0', '2.4.0'),
    expectedVersion: fc.constantFrom(undefined, '2.4.0'),
    backSince: fc.option(fc.integer({ min: 0, max: 2_000_000 }), { nil: undefined }),
    lastByteAt: fc.option(fc.integer({ min: 0, max: 1_000_000 }), { nil: undefined }),
    deadlineAt: fc.constant(1_200_000),
    softDeadlineAt: fc.constantFrom(undefined, 200_000),
  });
  const anyKind = fc.constantFrom('READBACK', 'REBOOT', 'FIRMWARE');
  const anyMoment = fc.integer({ min: 0, max: 3_000_000 });

  it('never calls a device good that is away or still on the session of its call', () => {
    fc.assert(
      fc.property(anyEvidence, anyKind, anyMoment, (evidence, kind, now) => {
        const verdict = judgeVerification(kind, { ...evidence, callError: undefined }, times, now);
        if (verdict.kind !== 'decided' || verdict.decision.outcome !== 'SUCCEEDED') return;
        expect(evidence).toMatchObject({ isOnline: true });
        expect(evidence.epoch).toBeGreaterThan(7);
        if (kind === 'FIRMWARE') expect(evidence.version).toBe(evidence.expectedVersion ?? evidence.version);
      }),
    );
  });

  it('never fails a device that nobody has seen: that is unknown', () => {
    fc.assert(
      fc.property(anyEvidence, anyKind, anyMoment, (evidence, kind, now) => {
        const verdict = judgeVerification(kind, { ...evidence, isOnline: false, callError: undefined }, times, now);
        if (verdict.kind === 'decided') expect(verdict.decision.outcome).toBe('UNKNOWN');
      }),
    );
  });

  it('comes to an end: past the deadline and a soak everything is decided', () => {
    fc.assert(
      fc.property(anyEvidence, anyKind, (evidence, kind) => {
        const told = {
          ...evidence,
          backSince: evidence.version === evidence.expectedVersion ? (evidence.backSince ?? 0) : evidence.backSince,
        };
        const late = Math.max(told.deadlineAt, told.backSince ?? 0, (told.lastByteAt ?? 0) + times.overdueMs) + times.soakMs;
        const isOpen = told.expectedVersion === undefined && told.backSince === undefined;
        if (!isOpen) expect(judgeVerification(kind, { ...told, callError: undefined }, times, late).kind).toBe('decided');
      }),
    );
  });
});
