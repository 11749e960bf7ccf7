import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { concludeJob } from './conclude-job.js';
import type { JobProgress } from './job-types.js';

const outcomes = [
  'succeeded',
  'noChange',
  'failed',
  'rejected',
  'verifyFailed',
  'unknown',
  'expired',
  'cancelled',
  'skipped',
] as const;
type Counts = Partial<Record<(typeof outcomes)[number], number>>;

function decided(counts: Counts): JobProgress {
  const zero = { pending: 0, waitingDevice: 0, inFlight: 0, verifying: 0 };
  const all = Object.fromEntries(outcomes.map((outcome) => [outcome, counts[outcome] ?? 0])) as Record<
    (typeof outcomes)[number],
    number
  >;
  return { ...zero, ...all, total: Object.values(all).reduce((sum, count) => sum + count, 0) };
}

const anyCounts = fc.record(
  Object.fromEntries(outcomes.map((outcome) => [outcome, fc.nat(3)])) as Record<string, fc.Arbitrary<number>>,
);

describe('concludeJob', () => {
  it.each<[string, Counts, string]>([
    ['all succeeded', { succeeded: 3 }, 'SUCCEEDED'],
    ['succeeded, already so, or skipped', { succeeded: 1, noChange: 1, skipped: 1 }, 'SUCCEEDED'],
    ['no device matched', {}, 'SUCCEEDED'],
    ['some failed', { succeeded: 1, failed: 1 }, 'PARTIAL'],
    ['none succeeded', { failed: 2, unknown: 1 }, 'FAILED'],
    ['all rejected', { rejected: 2 }, 'FAILED'],
    ['one sleeping board in a good job', { succeeded: 9, expired: 1 }, 'PARTIAL'],
    ['nothing was sent before it expired', { expired: 5, rejected: 1 }, 'EXPIRED'],
    ['something was sent, none succeeded, the rest expired', { unknown: 1, expired: 5 }, 'FAILED'],
  ])('%s', (_, counts, conclusion) => {
    expect(concludeJob(decided(counts), undefined)).toBe(conclusion);
  });

  it.each(['DENIED', 'CANCELLED', 'ABORTED'] as const)('%s stays, with any outcomes of the targets', (early) => {
    fc.assert(fc.property(anyCounts, (counts) => concludeJob(decided(counts), early) === early));
  });

  it('is SUCCEEDED only without a single failure, and FAILED only without a single success', () => {
    fc.assert(
      fc.property(anyCounts, (counts) => {
        const progress = decided(counts);
        const conclusion = concludeJob(progress, undefined);
        const bad =
          progress.failed +
          progress.rejected +
          progress.verifyFailed +
          progress.unknown +
          progress.expired +
          progress.cancelled;
        if (conclusion === 'SUCCEEDED') expect(bad).toBe(0);
        if (conclusion === 'FAILED') expect(progress.succeeded + progress.noChange).toBe(0);
        if (conclusion === 'PARTIAL')
          expect([bad > 0, progress.succeeded + progress.noChange > 0]).toEqual([true, true]);
      }),
    );
  });
});
