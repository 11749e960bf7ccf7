import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { claimLimit, intentBatchMax, isClaimWorthwhile } from './intent-batch.js';

const anyJob = fc.record({ idempotent: fc.boolean(), maxInFlight: fc.integer({ min: 1, max: 10_000 }) });

describe('intent batch', () => {
  it('risks at most 25 targets per crash where a tool must not run twice', () => {
    expect(intentBatchMax({ idempotent: false, maxInFlight: 10_000 })).toBe(25);
    expect(intentBatchMax({ idempotent: true, maxInFlight: 10_000 })).toBe(500);
  });

  it('never lets more be in flight than the job allows', () => {
    fc.assert(
      fc.property(anyJob, fc.nat(12_000), (job, inFlight) => {
        const limit = claimLimit(job, inFlight);
        expect(limit).toBeGreaterThanOrEqual(0);
        if (limit > 0) expect(inFlight + limit).toBeLessThanOrEqual(job.maxInFlight);
      }),
    );
  });

  it('always finds it worthwhile to claim for an idle job, and never without a free slot', () => {
    fc.assert(
      fc.property(anyJob, (job) => {
        expect(isClaimWorthwhile(job, 0)).toBe(true);
        expect(isClaimWorthwhile(job, job.maxInFlight)).toBe(false);
      }),
    );
  });

  it('waits for more than a few free slots of many', () => {
    expect(isClaimWorthwhile({ idempotent: true, maxInFlight: 200 }, 190)).toBe(false);
    expect(isClaimWorthwhile({ idempotent: true, maxInFlight: 200 }, 150)).toBe(true);
  });

  it('claims no more than a statement may move, and waits for no more than that', () => {
    const job = { idempotent: true, maxInFlight: 2_000 };
    expect(claimLimit(job, 0, 200)).toBe(200);
    expect(isClaimWorthwhile(job, 1_790, 200)).toBe(true);
    expect(isClaimWorthwhile(job, 1_790)).toBe(false);
  });
});
