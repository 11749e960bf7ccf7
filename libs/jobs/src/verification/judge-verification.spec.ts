import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgeFirmware, overdueAt } from './judge-firmware.js';
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
  connectedAt: -5_000,
  bootedAt: undefined,
  bootVersion: undefined,
  hasAnswered: false,
  download: 'NONE',
  cutRetries: 0,
  lastByteAt: undefined,
  deadlineAt: 1_200_000,
  softDeadlineAt: 200_000,
};
const away: VerificationEvidence = { ...still, isOnline: false, hasLeft: true };
const back: VerificationEvidence = { ...still, epoch: 8, hasLeft: true, connectedAt: 20_000 };
const upgraded: VerificationEvidence = { ...back, version: '2.4.0', connectedAt: 30_000, backSince: 30_000 };
/** A WebSocket board: idle, without a session, and its OTA request says what it runs. */
const booted: VerificationEvidence = { ...away, bootedAt: 40_000, bootVersion: '2.4.0' };
const stays = { epoch: 7, isOnline: true, hasLeft: false } as const;
const ends = (outcome: string, code?: string) => ({
  kind: 'decided',
  decision: { outcome, error: code === undefined ? undefined : (expect.objectContaining({ code }) as unknown) },
});

/** Its download is neither over nor known to be cut. */
const unsure: VerificationEvidence = { ...back, download: 'OPEN' };
const failedUpgrade = ends('VERIFY_FAILED', 'NOT_APPLIED_OR_ROLLED_BACK');

describe('judgeReboot', () => {
  it.each([
    ['greets on a later session', back, 100, ends('SUCCEEDED')],
    ['connects later and has not greeted', { ...back, isOnline: false }, 100, { kind: 'pending' }],
    ['has left', away, 100, { kind: 'pending' }],
    ['never left', still, 1_200_000, ends('VERIFY_FAILED', 'DID_NOT_RESTART')],
    ['left for good', away, 1_200_000, ends('UNKNOWN', 'LOST_AFTER_RESTART')],
    ['was deleted', { ...away, epoch: undefined }, 1_200_000, ends('UNKNOWN', 'LOST_AFTER_RESTART')],
    ['is back because the hub was away', { ...back, hasLeft: false }, 100, ends('UNKNOWN', 'HUB_RESTARTED')],
    ['asks its OTA address and stays idle', { ...away, bootedAt: 50 }, 100, ends('SUCCEEDED')],
    [
      'asks its OTA address, with any end of its session',
      { ...back, hasLeft: false, bootedAt: 50 },
      100,
      ends('SUCCEEDED'),
    ],
    [
      'asks its OTA address before its old session is known to be over',
      { ...still, bootedAt: 50 },
      100,
      ends('SUCCEEDED'),
    ],
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
    [
      'was rolled back',
      { ...upgraded, epoch: 9, version: '2.3.0' },
      40_000,
      ends('VERIFY_FAILED', 'NOT_APPLIED_OR_ROLLED_BACK'),
    ],
    ['came back as it was', back, 20_000, ends('VERIFY_FAILED', 'NOT_APPLIED_OR_ROLLED_BACK')],
    [
      'came back with another version',
      { ...back, version: '2.9.9' },
      20_000,
      ends('VERIFY_FAILED', 'NOT_APPLIED_OR_ROLLED_BACK'),
    ],
    ['is loading', still, 199_999, { kind: 'pending' }],
    ['stays where it was', still, 200_000, ends('VERIFY_FAILED', 'UPDATE_DID_NOT_START_OR_FAILED')],
    ['is loading slowly', { ...still, lastByteAt: 199_000 }, 280_000, { kind: 'pending' }],
    [
      'stopped loading',
      { ...still, lastByteAt: 199_000 },
      289_000,
      ends('VERIFY_FAILED', 'UPDATE_DID_NOT_START_OR_FAILED'),
    ],
    ['is away', away, 1_199_999, { kind: 'pending' }],
    ['stays away', away, 1_200_000, ends('UNKNOWN', 'LOST_AFTER_UPDATE')],
    ['boots into the new version and is soaking', booted, 99_999, { kind: 'pending' }],
    ['boots into the new version and stays idle', booted, 100_000, ends('SUCCEEDED')],
    [
      'boots into the new version before its old session is known to be over',
      { ...booted, ...stays },
      100_000,
      ends('SUCCEEDED'),
    ],
    ['boots again in its soak', { ...booted, bootedAt: 90_000 }, 149_999, { kind: 'pending' }],
    ['boots again in its soak and stays', { ...booted, bootedAt: 90_000 }, 150_000, ends('SUCCEEDED')],
    [
      'boots again in the soak of its session',
      { ...upgraded, bootedAt: 80_000, bootVersion: '2.4.0' },
      139_999,
      { kind: 'pending' },
    ],
    [
      'boots into the old version',
      { ...booted, bootVersion: '2.3.0' },
      40_000,
      ends('VERIFY_FAILED', 'NOT_APPLIED_OR_ROLLED_BACK'),
    ],
    [
      'is rolled back after its session',
      { ...upgraded, bootedAt: 50_000, bootVersion: '2.3.0' },
      50_000,
      failedUpgrade,
    ],
    [
      'greets with the new version after a boot',
      { ...upgraded, bootedAt: 25_000, bootVersion: '2.4.0' },
      85_000,
      ends('SUCCEEDED'),
    ],
    ['reports no version at boot', { ...booted, bootVersion: undefined }, 1_199_999, { kind: 'pending' }],
    [
      'never reports its version',
      { ...booted, bootVersion: undefined },
      1_200_000,
      ends('UNKNOWN', 'LOST_AFTER_UPDATE'),
    ],
    ['boots at the last moment', { ...booted, bootedAt: 1_199_000 }, 1_258_999, { kind: 'pending' }],
    ['boots without an end', { ...booted, bootedAt: 1_230_000 }, 1_260_000, ends('UNKNOWN', 'LOST_AFTER_UPDATE')],
    [
      'says that it failed',
      { ...still, hasAnswered: true },
      8_000,
      ends('VERIFY_FAILED', 'UPDATE_DID_NOT_START_OR_FAILED'),
    ],
    [
      'says that it failed while its download may have been cut',
      { ...unsure, ...stays, hasAnswered: true },
      8_000,
      { kind: 'pending' },
    ],
    ['came back as it was while its download may have been cut', unsure, 34_999, { kind: 'pending' }],
    ['came back as it was, and its hub process lives', unsure, 35_000, failedUpgrade],
  ])('judges a device that %s', (_, evidence, now, verdict) => {
    expect(judgeFirmware(evidence, times, now)).toEqual(verdict);
  });

  it('takes any other version for the new one where only an address is known', () => {
    const open = { ...upgraded, expectedVersion: undefined };
    expect(judgeFirmware(open, times, 90_000)).toEqual(ends('SUCCEEDED'));
    expect(judgeFirmware({ ...open, version: '2.3.0' }, times, 90_000)).toEqual(
      ends('VERIFY_FAILED', 'NOT_APPLIED_OR_ROLLED_BACK'),
    );
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
    connectedAt: fc.integer({ min: 0, max: 2_000_000 }),
    bootedAt: fc.option(fc.integer({ min: 0, max: 2_000_000 }), { nil: undefined }),
    bootVersion: fc.constantFrom(undefined, '2.3.0', '2.4.0', '9.9.9'),
    hasAnswered: fc.boolean(),
    download: fc.constantFrom('NONE', 'OVER', 'OPEN', 'CUT'),
    cutRetries: fc.constantFrom(0, 1),
    lastByteAt: fc.option(fc.integer({ min: 0, max: 1_000_000 }), { nil: undefined }),
    deadlineAt: fc.constant(1_200_000),
    softDeadlineAt: fc.constantFrom(undefined, 200_000),
  });
  const anyKind = fc.constantFrom('READBACK', 'REBOOT', 'FIRMWARE');
  const anyMoment = fc.integer({ min: 0, max: 3_000_000 });

  it('never calls a device good that has shown nothing since its call, nor one that shows another version', () => {
    fc.assert(
      fc.property(anyEvidence, anyKind, anyMoment, (evidence, kind, now) => {
        const verdict = judgeVerification(kind, { ...evidence, callError: undefined }, times, now);
        if (verdict.kind !== 'decided' || verdict.decision.outcome !== 'SUCCEEDED') return;
        const hasReturned = evidence.isOnline && (evidence.epoch ?? 0) > 7;
        expect(hasReturned || evidence.bootedAt !== undefined).toBe(true);
        const { expectedVersion, baselineVersion } = evidence;
        const isWanted = (version: string | undefined) =>
          version !== undefined &&
          (expectedVersion === undefined ? version !== baselineVersion : version === expectedVersion);
        if (kind === 'FIRMWARE')
          expect(
            [hasReturned && evidence.version, evidence.bootVersion].some((told) => told !== false && isWanted(told)),
          ).toBe(true);
      }),
    );
  });

  it('passes an upgrade by its boot only when no other boot came for a whole soak', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 300_000 }), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 0, max: 600_000 }),
        (boots, now) => {
          const seen = boots.filter((at) => at <= now);
          if (seen.length === 0) return;
          const verdict = judgeFirmware({ ...booted, bootedAt: Math.max(...seen) }, times, now);
          expect(verdict.kind === 'decided').toBe(seen.every((at) => now >= at + times.soakMs));
        },
      ),
    );
  });

  it('never fails a device that was not seen: that is unknown', () => {
    fc.assert(
      fc.property(anyEvidence, anyKind, anyMoment, (evidence, kind, now) => {
        const unseen = { ...evidence, isOnline: false, bootedAt: undefined, callError: undefined };
        const verdict = judgeVerification(kind, unseen, times, now);
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
        const late =
          Math.max(told.deadlineAt, told.backSince ?? 0, (told.lastByteAt ?? 0) + times.overdueMs) + times.soakMs;
        expect(judgeVerification(kind, { ...told, callError: undefined }, times, late).kind).toBe('decided');
      }),
    );
  });
});
