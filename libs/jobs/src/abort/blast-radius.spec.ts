import { describe, expect, it } from 'vitest';
import type { AbortRule } from './abort-rule.js';
import { blastRadius } from './blast-radius.js';

const failing: AbortRule = { outcomes: ['FAILED'], scope: 'JOB', ratio: 0.1, action: 'PAUSE' };
const job = (change: Partial<Parameters<typeof blastRadius>[0]> = {}) => ({
  ...{ abortRules: [failing], waves: [], idempotent: false, maxInFlight: 10 },
  ...change,
});
const wave = { successThreshold: 0.95, soakSeconds: 0, gate: 'AUTO' } as const;

describe('the blast radius', () => {
  it('is everybody where nothing stops the job', () => {
    expect(blastRadius(job({ abortRules: [] }), 5_000)).toBe(5_000);
    expect(blastRadius(job({ abortRules: [{ ...failing, onlyWave: 1 }], waves: [{ ...wave, percent: 10 }] }), 5_000)).toBe(5_000);
  });

  it('is the failures at the trip, what is in flight, and one batch', () => {
    // A tenth of 1,000, 10 in flight, and a batch of 10: as many as may be in flight.
    expect(blastRadius(job(), 1_000)).toBe(120);
    expect(blastRadius(job({ abortRules: [{ ...failing, count: 3 }] }), 1_000)).toBe(23);
    expect(blastRadius(job({ maxInFlight: 200 }), 1_000)).toBe(100 + 200 + 25);
    expect(blastRadius(job({ maxInFlight: 1_000, idempotent: true }), 100_000)).toBe(10_000 + 1_000 + 500);
  });

  it('counts all that may fail before the rule looks, and never more than there are', () => {
    expect(blastRadius(job({ abortRules: [{ ...failing, minDecided: 50 }] }), 100)).toBe(70);
    expect(blastRadius(job({ abortRules: [{ ...failing, scope: 'WAVE' }], waves: [{ ...wave, count: 5 }] }), 20)).toBe(20);
    expect(blastRadius(job(), 0)).toBe(0);
  });
});
