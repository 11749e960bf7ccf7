/** The counts of a job. */
import { describe, expect, it } from 'vitest';
import { countsOf, decidedOf } from './job-progress';

const progress = {
  total: 20,
  ...{ pending: 1, waitingDevice: 2, inFlight: 3, verifying: 4 },
  ...{ succeeded: 5, noChange: 1, failed: 1, rejected: 1, verifyFailed: 1, unknown: 1 },
  ...{ expired: 0, cancelled: 0, skipped: 0 },
};

describe('the progress of a job', () => {
  it('counts targets with an outcome as decided', () => expect(decidedOf(progress)).toBe(10));

  it('has every target in exactly one count', () => {
    expect(Object.values(countsOf(progress)).reduce((sum, count) => sum + (count ?? 0), 0)).toBe(progress.total);
  });
});
