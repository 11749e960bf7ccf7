/** The counts of a job. */
import { describe, expect, it } from 'vitest';
import { areTargetsSelected, countsOf, decidedOf, isOfHiddenTargets } from './job-progress';

const progress = {
  total: 20,
  pending: 1,
  waitingDevice: 2,
  inFlight: 3,
  verifying: 4,
  succeeded: 5,
  noChange: 1,
  failed: 1,
  rejected: 1,
  verifyFailed: 1,
  unknown: 1,
  expired: 0,
  cancelled: 0,
  skipped: 0,
};

describe('the progress of a job', () => {
  it('counts targets with an outcome as decided', () => expect(decidedOf(progress)).toBe(10));

  it('has no count before the devices are selected', () => {
    expect(areTargetsSelected('SCHEDULED', { ...progress, total: 0 })).toBe(false);
    expect(areTargetsSelected('RUNNING', progress)).toBe(true);
  });

  it('has a count of 0 if it ended without devices', () => {
    expect(areTargetsSelected('FINISHED', { ...progress, total: 0 })).toBe(true);
  });

  it('does not explain a partial success if the targets of one kind are hidden', () => {
    const none = { ...Object.fromEntries(Object.keys(progress).map((name) => [name, 0])) } as typeof progress;
    expect(isOfHiddenTargets('PARTIAL', { ...none, total: 3, succeeded: 1, noChange: 1, skipped: 1 })).toBe(true);
    expect(isOfHiddenTargets('PARTIAL', { ...none, total: 2, failed: 2 })).toBe(true);
    expect(isOfHiddenTargets('PARTIAL', { ...none, total: 2, succeeded: 1, expired: 1 })).toBe(false);
    expect(isOfHiddenTargets('SUCCEEDED', { ...none, total: 2, succeeded: 2 })).toBe(false);
  });

  it('has every target in exactly one count', () => {
    expect(Object.values(countsOf(progress)).reduce((sum, count) => sum + (count ?? 0), 0)).toBe(progress.total);
  });
});
