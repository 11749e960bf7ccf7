import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TargetDecision, TargetOutcome } from '../job-types.js';
import { retryDelayMs } from './retry-delay.js';

const idempotent = { idempotent: true, maxAttempts: 3 };
const end = (outcome: TargetOutcome, code?: 'DEVICE_ERROR' | 'TIMEOUT' | 'TOOL_GONE'): TargetDecision => ({
  outcome,
  certainty: 'YES',
  error: code && { code, message: '' },
});

describe('retryDelayMs', () => {
  it('sends an idempotent tool again after a failure or without an answer, until there were sends enough', () => {
    expect(retryDelayMs(end('FAILED', 'DEVICE_ERROR'), idempotent, 1, 1)).toBe(5_000);
    expect(retryDelayMs(end('UNKNOWN', 'TIMEOUT'), idempotent, 2, 1)).toBe(10_000);
    expect(retryDelayMs(end('UNKNOWN', 'TIMEOUT'), idempotent, 3, 1)).toBeUndefined();
  });

  it.each<TargetOutcome>(['SUCCEEDED', 'NO_CHANGE', 'REJECTED', 'VERIFY_FAILED', 'EXPIRED', 'CANCELLED', 'SKIPPED'])(
    'leaves %s alone',
    (outcome) => {
      expect(retryDelayMs(end(outcome), idempotent, 1, 0.5)).toBeUndefined();
    },
  );

  it('leaves a tool alone that is gone', () => {
    expect(retryDelayMs(end('FAILED', 'TOOL_GONE'), idempotent, 1, 0.5)).toBeUndefined();
  });

  it('never sends a non-idempotent tool twice, for any request', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<TargetOutcome>('FAILED', 'UNKNOWN'),
        fc.integer({ min: 1, max: 10 }),
        fc.integer({ min: 1, max: 10 }),
        (outcome, attempts, maxAttempts) => {
          expect(retryDelayMs(end(outcome), { idempotent: false, maxAttempts }, attempts, 0.5)).toBeUndefined();
        },
      ),
    );
  });

  it('spreads over the whole wait, which doubles up to five minutes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.double({ min: 0, max: 1, noNaN: true }), (attempts, chance) => {
        const delay = retryDelayMs(end('FAILED'), { idempotent: true, maxAttempts: 10 }, attempts, chance) ?? -1;
        expect(delay).toBeGreaterThanOrEqual(0);
        expect(delay).toBeLessThanOrEqual(Math.min(300_000, 5_000 * 2 ** (attempts - 1)));
        expect(delay).toBe(Math.round(chance * Math.min(300_000, 5_000 * 2 ** (attempts - 1))));
      }),
    );
  });
});
