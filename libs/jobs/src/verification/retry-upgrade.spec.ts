import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JobState } from '../job-types.js';
import { judgeFirmware } from './judge-firmware.js';
import { retryOfUpgrade } from './retry-upgrade.js';
import type { VerificationEvidence } from './verification-evidence.js';
import { verificationTimes as times } from './verification-times.js';

/** Sent at 0 on epoch 7, and back on epoch 8 with the old firmware at 20 s. */
const back: VerificationEvidence = {
  sentEpoch: 7,
  epoch: 8,
  isOnline: true,
  hasLeft: true,
  connectedAt: 20_000,
  backSince: undefined,
  version: '2.3.0',
  baselineVersion: '2.3.0',
  expectedVersion: '2.4.0',
  bootedAt: undefined,
  bootVersion: undefined,
  hasAnswered: false,
  download: 'OVER',
  cutRetries: 0,
  lastByteAt: undefined,
  deadlineAt: 1_200_000,
  softDeadlineAt: 200_000,
};
const cut: VerificationEvidence = { ...back, download: 'CUT' };
/** On the session of its call, and said that the upgrade failed. */
const answered: VerificationEvidence = { ...cut, epoch: 7, connectedAt: -5_000, hasAnswered: true };
const once = { made: 1, max: 1, jobState: 'RUNNING' } as const;
const retry = (evidence: VerificationEvidence, attempts: Parameters<typeof retryOfUpgrade>[2] = once, now = 200_000) =>
  retryOfUpgrade(evidence, judgeFirmware(evidence, times, now), attempts);

describe('retryOfUpgrade', () => {
  it('sends a second time, where it is allowed at all, to a device that runs what it ran before', () => {
    expect(retry(back, { ...once, max: 3 })).toBe('NEXT_ATTEMPT');
    expect(retry(back)).toBeUndefined();
    expect(retry(back, { ...once, made: 2, max: 3 })).toBeUndefined();
    expect(retry({ ...back, version: '2.9.9' }, { ...once, max: 3 })).toBeUndefined();
    expect(retry({ ...answered, download: 'OVER' }, { ...once, max: 3 })).toBeUndefined();
  });

  it.each([
    ['came back on a session', cut],
    ['said so at its boot and stayed idle', { ...cut, isOnline: false, bootedAt: 30_000, bootVersion: '2.3.0' }],
    ['answered the upgrade on its session', answered],
  ] as const)('repeats the attempt where the hub cut the download and the device %s', (_, evidence) => {
    expect(retry(evidence)).toBe('SAME_ATTEMPT');
    expect(retry({ ...evidence, cutRetries: 1 })).toBeUndefined();
  });

  it.each(['OVER', 'NONE', 'OPEN'] as const)('does not where the download is %s', (download) => {
    expect(retry({ ...cut, download })).toBeUndefined();
  });

  it.each<JobState>(['CANCELLING', 'FINISHED'])('does not where the job is %s', (jobState) => {
    expect(retry(cut, { ...once, jobState })).toBeUndefined();
  });

  it('sends at most twice for one allowed attempt, and only to a device that last showed its old firmware', () => {
    const anyEvidence: fc.Arbitrary<VerificationEvidence> = fc.record({
      sentEpoch: fc.constant(7),
      epoch: fc.constantFrom(undefined, 7, 8),
      isOnline: fc.boolean(),
      hasLeft: fc.boolean(),
      version: fc.constantFrom(undefined, '2.3.0', '2.4.0', '9.9.9'),
      baselineVersion: fc.constantFrom(undefined, '2.3.0'),
      expectedVersion: fc.constantFrom(undefined, '2.4.0'),
      backSince: fc.constantFrom(undefined, 1_000),
      connectedAt: fc.nat(500_000),
      bootedAt: fc.option(fc.nat(500_000), { nil: undefined }),
      bootVersion: fc.constantFrom(undefined, '2.3.0', '2.4.0'),
      hasAnswered: fc.boolean(),
      download: fc.constantFrom('NONE', 'OVER', 'OPEN', 'CUT'),
      cutRetries: fc.nat(2),
      lastByteAt: fc.constant(undefined),
      deadlineAt: fc.constant(400_000),
      softDeadlineAt: fc.constantFrom(undefined, 200_000),
    });
    fc.assert(
      fc.property(anyEvidence, fc.nat(1_000_000), (evidence, now) => {
        const again = retry(evidence, once, now);
        if (again === undefined) return;
        expect(again).toBe('SAME_ATTEMPT');
        expect(evidence).toMatchObject({ download: 'CUT', cutRetries: 0, baselineVersion: '2.3.0' });
        expect([evidence.version, evidence.bootVersion]).toContain('2.3.0');
      }),
    );
  });
});
