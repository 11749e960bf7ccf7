import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emptyProgress } from '../job-progress.js';
import type { Job, JobProgress } from '../job-types.js';
import type { AbortRule, TrippedRule } from './abort-rule.js';
import { defaultAbortRules } from './default-rules.js';
import { findTrippedRule } from './evaluate-rules.js';

const none: JobProgress = { ...emptyProgress, total: 1_000 };
const tenth: AbortRule = { outcomes: ['FAILED', 'UNKNOWN'], scope: 'JOB', ratio: 0.1, minDecided: 20, action: 'PAUSE' };

interface Situation {
  readonly job?: Partial<JobProgress>;
  readonly wave?: Partial<JobProgress>;
  readonly overdue?: { readonly job: number; readonly wave: number };
  readonly before?: TrippedRule | undefined;
  readonly currentWave?: number;
  readonly firstWaveSize?: number;
}

function find(
  rules: readonly AbortRule[],
  { job, wave, overdue, before, currentWave, firstWaveSize }: Situation,
): TrippedRule | undefined {
  const progress = { ...none, ...job };
  return findTrippedRule(
    { abortRules: rules, trippedRule: before, currentWave: currentWave ?? 1 },
    {
      job: progress,
      wave: { ...none, ...(wave ?? job) },
      overdue: overdue ?? { job: 0, wave: 0 },
      firstWaveSize: firstWaveSize ?? 0,
    },
    7,
  );
}

describe('an abort rule', () => {
  it('trips at its ratio once enough are decided, and says what it saw', () => {
    expect(find([tenth], { job: { succeeded: 17, failed: 2 } })).toBeUndefined();
    expect(find([tenth], { job: { succeeded: 19, failed: 1 } })).toBeUndefined();
    expect(find([tenth], { job: { succeeded: 18, failed: 1, unknown: 1 } })).toMatchObject({
      rule: tenth,
      decided: 20,
      failed: 2,
      wave: 1,
      at: 7,
    });
  });

  it('counts neither neutral ends nor devices that never came', () => {
    expect(
      find([tenth], { job: { failed: 5, noChange: 500, skipped: 50, cancelled: 50, expired: 50 } }),
    ).toBeUndefined();
    const asleep: AbortRule = { ...tenth, outcomes: ['EXPIRED'] };
    expect(find([asleep], { job: { succeeded: 18, expired: 2 } })).toMatchObject({ decided: 20, failed: 2 });
  });

  it('trips at a count of failures, however many are decided', () => {
    expect(
      find([{ outcomes: ['UNKNOWN'], scope: 'JOB', count: 3, action: 'PAUSE' }], { job: { unknown: 3 } }),
    ).toMatchObject({
      failed: 3,
    });
  });

  it('counts devices that are overdue already as lost', () => {
    const lost: AbortRule = { outcomes: ['UNKNOWN'], scope: 'WAVE', count: 3, action: 'PAUSE' };
    expect(find([lost], { overdue: { job: 9, wave: 2 } })).toBeUndefined();
    expect(find([lost], { overdue: { job: 9, wave: 3 } })).toMatchObject({ failed: 3 });
    expect(find([{ ...lost, outcomes: ['FAILED'] }], { overdue: { job: 9, wave: 9 } })).toBeUndefined();
  });

  it('about a wave looks at the open one only', () => {
    const wave: AbortRule = { ...tenth, scope: 'WAVE' };
    expect(
      find([wave], { job: { succeeded: 10, failed: 10 }, wave: { succeeded: 20 }, currentWave: 2 }),
    ).toBeUndefined();
    expect(
      find([wave], { job: { succeeded: 1_000 }, wave: { succeeded: 10, failed: 10 }, currentWave: 2 }),
    ).toMatchObject({
      wave: 2,
      decided: 20,
    });
  });

  it('waits for twenty decided targets, or for a smaller canary, unless it has its own number', () => {
    const rule: AbortRule = { outcomes: ['FAILED'], scope: 'JOB', ratio: 0.1, action: 'PAUSE' };
    expect(find([rule], { job: { failed: 5 } })).toBeUndefined();
    expect(find([rule], { job: { failed: 5 }, firstWaveSize: 5 })).toBeDefined();
    expect(find([rule], { job: { failed: 5, total: 5 } })).toBeDefined();
  });

  it('that tripped before judges a resumed job on what came after', () => {
    const before = find([tenth], { job: { succeeded: 18, failed: 2 } });
    expect(find([tenth], { job: { succeeded: 18, failed: 2 }, before })).toBeUndefined();
    expect(find([tenth], { job: { succeeded: 36, failed: 3 }, before })).toBeUndefined();
    expect(find([tenth], { job: { succeeded: 36, failed: 4 }, before })).toMatchObject({ decided: 40, failed: 4 });
  });

  it('that tripped on overdue devices counts them once, and every other failure afterwards', () => {
    const rule: AbortRule = { outcomes: ['FAILED', 'UNKNOWN'], scope: 'JOB', count: 3, action: 'PAUSE' };
    const before = find([rule], { overdue: { job: 3, wave: 3 } });
    expect(before).toMatchObject({ failed: 3 });
    expect(find([rule], { job: { unknown: 2 }, overdue: { job: 1, wave: 1 }, before })).toBeUndefined();
    expect(find([rule], { job: { unknown: 5 }, overdue: { job: 0, wave: 0 }, before })).toBeUndefined();
    expect(find([rule], { job: { unknown: 6 }, overdue: { job: 0, wave: 0 }, before })).toBeDefined();
    expect(find([rule], { job: { succeeded: 3, failed: 2 }, before })).toBeUndefined();
    expect(find([rule], { job: { succeeded: 3, failed: 3 }, before })).toBeDefined();
  });

  it('about a wave judges the next wave from its beginning', () => {
    const wave: AbortRule = { ...tenth, scope: 'WAVE' };
    const before = find([wave], { wave: { succeeded: 18, failed: 2 } });
    const failed = { succeeded: 16, failed: 4 };
    expect(find([wave], { wave: failed, before, currentWave: 2 })).toMatchObject({ wave: 2, decided: 20, failed: 4 });
    expect(find([wave], { wave: { succeeded: 19, failed: 1 }, before, currentWave: 2 })).toBeUndefined();
  });

  it('that cancels goes before one that pauses', () => {
    const cancel: AbortRule = { ...tenth, action: 'CANCEL' };
    expect(find([tenth, cancel], { job: { failed: 20 } })?.rule.action).toBe('CANCEL');
  });

  it('trips at the first crossing of the formula, not before and not after', () => {
    const ends = fc.array(fc.constantFrom<keyof JobProgress>('succeeded', 'failed', 'unknown', 'skipped'), {
      maxLength: 200,
    });
    const anyRule = fc.record({
      ratio: fc.double({ min: 0.01, max: 1, noNaN: true }),
      minDecided: fc.integer({ min: 1, max: 50 }),
      count: fc.option(fc.integer({ min: 1, max: 50 }), { nil: Infinity }),
    });
    fc.assert(
      fc.property(ends, anyRule, (road, { ratio, minDecided, count }) => {
        const rule: AbortRule = { ...tenth, ratio, minDecided, ...(count < Infinity && { count }) };
        const counts = { succeeded: 0, failed: 0, unknown: 0, skipped: 0 };
        for (const end of road) {
          counts[end as keyof typeof counts] += 1;
          const bad = counts.failed + counts.unknown;
          const decided = bad + counts.succeeded;
          expect(find([rule], { job: counts }) !== undefined).toBe(
            bad >= count || (decided >= minDecided && bad / decided >= ratio),
          );
        }
      }),
    );
  });
});

describe('default abort rules', () => {
  const job = (disruptive: boolean, waves: Job['waves']) => defaultAbortRules({ disruptive, waves });

  it('protect devices from disruptive tools only, and watch a canary for lost devices', () => {
    expect(job(false, [])).toEqual([]);
    expect(job(true, [])).toHaveLength(1);
    const rules = job(true, [{ count: 5, gate: 'AUTO', successThreshold: 0.95, soakSeconds: 0 }]);
    expect(find(rules, { job: { unknown: 3, succeeded: 100 }, wave: { unknown: 3 }, firstWaveSize: 5 })).toMatchObject({
      rule: { count: 3 },
    });
    expect(
      find(rules, { job: { unknown: 3, succeeded: 100 }, wave: { unknown: 3 }, currentWave: 2, firstWaveSize: 5 }),
    ).toBeUndefined();
  });
});
