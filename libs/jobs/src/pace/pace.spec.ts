import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isFailing, paceOf, ratePerMinute, secondsAtPace } from './pace.js';
import { bucketSize, emptyBucket, refilled, takeable, waitMs, withTaken } from './pace-bucket.js';

describe('the pace of a job', () => {
  it('is undefined in a job without a limit per minute', () => {
    expect(paceOf({ perMinute: undefined, disruptive: true })).toBeUndefined();
  });

  it('climbs with the successes of a disruptive job, by doubling from an eighth', () => {
    const pace = paceOf({ perMinute: 800, disruptive: true });
    if (pace === undefined) throw new TypeError('No pace.');
    expect([0, 99, 100, 200, 300, 5_000].map((succeeded) => ratePerMinute(pace, succeeded, false))).toEqual([
      100, 100, 200, 400, 800, 800,
    ]);
    expect(ratePerMinute(pace, 5_000, true)).toBe(100);
  });

  it('of any other job is the most from the beginning, and falls back too while devices fail', () => {
    const pace = paceOf({ perMinute: 800, disruptive: false });
    if (pace === undefined) throw new TypeError('No pace.');
    expect(ratePerMinute(pace, 0, false)).toBe(800);
    expect(ratePerMinute(pace, 5_000, true)).toBe(100);
  });

  it('says how long it takes at least, the climb included', () => {
    const seconds = (disruptive: boolean, sends: number) => {
      const pace = paceOf({ perMinute: 800, disruptive });
      return pace && secondsAtPace(pace, sends);
    };
    expect([0, 1, 800, 1_000].map((sends) => seconds(false, sends))).toEqual([0, 1, 60, 75]);
    // A hundred each at 100, 200 and 400 a minute, the rest at 800.
    expect([0, 50, 100, 300, 1_100].map((sends) => seconds(true, sends))).toEqual([0, 30, 60, 105, 165]);
  });

  it('falls back at half of what the strictest rule allows', () => {
    const rules = [0.5, 0.1].map((ratio) => ({ outcomes: ['FAILED'], scope: 'JOB', action: 'PAUSE', ratio }) as const);
    expect(isFailing({ decided: 100, failed: 5 }, rules)).toBe(false);
    expect(isFailing({ decided: 100, failed: 6 }, rules)).toBe(true);
    expect(isFailing({ decided: 100, failed: 100 }, [])).toBe(false);
    expect(isFailing({ decided: 0, failed: 0 }, rules)).toBe(false);
  });
});

describe('the token bucket', () => {
  const anyRate = fc.integer({ min: 1, max: 6_000_000 });
  const anyVisits = fc.array(fc.record({ afterMs: fc.nat(5_000), wanted: fc.integer({ min: 1, max: 500 }) }), {
    maxLength: 50,
  });

  it('never gives more over any time than the rate and what it holds', () => {
    fc.assert(
      fc.property(anyRate, anyVisits, (perMinute, visits) => {
        let now = 0;
        let bucket = emptyBucket(now);
        const taken: { readonly at: number; readonly count: number }[] = [];
        for (const { afterMs, wanted } of visits) {
          now += afterMs;
          bucket = refilled(bucket, perMinute, now);
          const count = takeable(bucket, perMinute, wanted);
          expect(count).toBeLessThanOrEqual(wanted);
          bucket = withTaken(bucket, count);
          expect(bucket.tokens).toBeGreaterThanOrEqual(0);
          taken.push({ at: now, count });
        }
        for (const [from, first] of taken.entries()) {
          let sum = 0;
          for (const { at, count } of taken.slice(from)) {
            sum += count;
            expect(sum).toBeLessThanOrEqual(bucketSize(perMinute) + ((at - first.at) * perMinute) / 60_000 + 1e-6);
          }
        }
      }),
    );
  });

  it('has something to give after the wait that it names', () => {
    fc.assert(
      fc.property(anyRate, fc.integer({ min: 1, max: 500 }), (perMinute, wanted) => {
        const empty = emptyBucket(0);
        const wait = waitMs(empty, perMinute);
        expect(takeable(refilled(empty, perMinute, wait + 1), perMinute, wanted)).toBeGreaterThan(0);
      }),
    );
  });

  it('gives nothing for a clock that went back, and fills again from there', () => {
    const bucket = refilled(emptyBucket(10_000), 600, 5_000);
    expect(bucket).toEqual({ tokens: 0, filledAt: 5_000 });
    expect(refilled(bucket, 600, 5_100).tokens).toBe(1);
  });
});
