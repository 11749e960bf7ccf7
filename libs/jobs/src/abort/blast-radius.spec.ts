import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emptyProgress } from '../job-progress.js';
import { claimLimit } from '../intent-batch.js';
import type { JobProgress } from '../job-types.js';
import { verificationTimes } from '../verification/verification-times.js';
import { planWaves } from '../waves/plan-waves.js';
import type { WaveSpec } from '../waves/wave.js';
import { judgeGate } from '../waves/wave-gate.js';
import type { AbortOutcome, AbortRule } from './abort-rule.js';
import { blastRadius } from './blast-radius.js';
import { findTrippedRule } from './evaluate-rules.js';

type PlannedJob = Parameters<typeof blastRadius>[0];

const failing: AbortRule = {
  outcomes: ['FAILED', 'VERIFY_FAILED', 'UNKNOWN'],
  scope: 'JOB',
  ratio: 0.1,
  action: 'PAUSE',
};
const lost: AbortRule = { outcomes: ['UNKNOWN'], scope: 'WAVE', count: 3, action: 'PAUSE', onlyWave: 1 };
const job = (change: Partial<PlannedJob> = {}): PlannedJob => ({
  abortRules: [failing],
  waves: [],
  idempotent: false,
  maxAttempts: 1,
  maxInFlight: 10,
  verification: 'NONE',
  perMinute: undefined,
  callTimeoutMs: 60_000,
  firmwareImageId: undefined,
  ...change,
});
const wave = { successThreshold: 0.95, soakSeconds: 0, gate: 'AUTO' } as const;
const radius = (change: Partial<PlannedJob>, targets: number): number =>
  blastRadius(job(change), targets, verificationTimes);

describe('the blast radius', () => {
  it('is everybody where nothing is certain to stop the job', () => {
    expect(radius({ abortRules: [] }, 5_000)).toBe(5_000);
    expect(radius({ abortRules: [lost] }, 5_000), 'a device may fail in other ways').toBe(5_000);
    expect(radius({ verification: 'REBOOT' }, 5_000), 'all are sent before the first is judged').toBe(5_000);
    expect(
      radius({ idempotent: true, maxAttempts: 3 }, 5_000),
      'all are sent before the first has failed for good',
    ).toBe(5_000);
    const open = { ...wave, successThreshold: 0, percent: 1 };
    expect(radius({ verification: 'FIRMWARE', waves: [open] }, 5_000), 'a gate that always opens').toBe(5_000);
  });

  it('is the failures at the trip, what is in flight, and one batch', () => {
    // Twenty decided, 10 in flight, and a batch of 10: as many as may be in flight.
    expect(radius({}, 1_000)).toBe(40);
    expect(radius({ abortRules: [{ ...failing, minDecided: 50 }] }, 1_000)).toBe(70);
    expect(radius({ abortRules: [{ ...failing, count: 3 }] }, 1_000)).toBe(23);
    expect(radius({ maxInFlight: 200 }, 1_000)).toBe(20 + 200 + 25);
    expect(radius({ maxInFlight: 1_000, idempotent: true }, 100_000)).toBe(20 + 1_000 + 500);
    expect(radius({}, 0)).toBe(0);
  });

  it('is the first wave where its gate stays shut, and less where a rule trips before', () => {
    const waves = [
      { ...wave, count: 50 },
      { ...wave, percent: 50 },
    ];
    expect(radius({ verification: 'FIRMWARE', waves }, 1_000)).toBe(50);
    expect(radius({ waves }, 1_000)).toBe(40);
    expect(radius({ abortRules: [], waves: [{ ...wave, successThreshold: 0, count: 20 }, ...waves] }, 1_000)).toBe(70);
  });

  it('is bounded by the pace for as long as a device may take to be judged', () => {
    // 20 minutes, one of soak, two for a killed hub, one of the call, and one that has begun.
    expect(radius({ verification: 'FIRMWARE', perMinute: 2 }, 1_000)).toBe(20 + 10 + 10 + 2 * 25);
    const rollout = { verification: 'FIRMWARE', perMinute: 2, firmwareImageId: 'an image' } as const;
    expect(radius(rollout, 1_000), 'an image that the hub cut off is sent once more').toBe(20 + 10 + 10 + 2 * 49);
  });

  it('holds against the rules and gates themselves, in any order of judgements', () => {
    fc.assert(
      fc.property(anyJob, fc.integer({ min: 1, max: 150 }), fc.infiniteStream(fc.nat(99)), (planned, targets, dice) => {
        const bound = blastRadius(planned, targets, verificationTimes);
        expect(new DoomedJob(planned, targets, () => dice.next().value ?? 0).run()).toBeLessThanOrEqual(bound);
      }),
      { numRuns: 500 },
    );
  });
});

const anyRule: fc.Arbitrary<AbortRule> = fc.record({
  outcomes: fc.constantFrom<readonly AbortOutcome[]>(failing.outcomes, ['UNKNOWN'], [...failing.outcomes, 'REJECTED']),
  scope: fc.constantFrom('JOB', 'WAVE'),
  action: fc.constant('PAUSE'),
  ratio: fc.double({ min: 0.01, max: 1, noNaN: true }),
  minDecided: fc.integer({ min: 1, max: 40 }),
});
const anyWave: fc.Arbitrary<WaveSpec> = fc.record({
  count: fc.integer({ min: 1, max: 40 }),
  soakSeconds: fc.constant(0),
  successThreshold: fc.constantFrom(0, 0.5, 1),
  gate: fc.constantFrom('AUTO', 'MANUAL'),
});
const anyJob: fc.Arbitrary<PlannedJob> = fc
  .record({
    abortRules: fc.array(anyRule, { maxLength: 2 }),
    waves: fc.array(anyWave, { maxLength: 3 }),
    idempotent: fc.boolean(),
    maxInFlight: fc.integer({ min: 1, max: 60 }),
    verification: fc.constantFrom('NONE', 'FIRMWARE'),
    isRetried: fc.boolean(),
  })
  .map(({ isRetried, ...rest }) => job({ ...rest, maxAttempts: isRetried && rest.idempotent ? 3 : 1 }));

type Tally = { -readonly [Counter in keyof JobProgress]: JobProgress[Counter] };

/**
 * A job that fails on every device, under an engine that checks rules and gates before it sends;
 * dice choose answers, retries and times.
 */
class DoomedJob {
  readonly #waves: readonly { readonly size: number; readonly spec: WaveSpec | undefined; readonly tally: Tally }[];
  #current = 0;
  #reached = 0;
  #inFlight: number[] = [];
  /** Being verified, or waiting for another try. */
  #undecided: number[] = [];

  constructor(
    private readonly job: PlannedJob,
    targets: number,
    private readonly roll: () => number,
  ) {
    const planned = planWaves(targets, job.waves);
    const waves = planned.length === 0 ? [{ ...wave, number: 1, size: targets }] : planned;
    this.#waves = waves.map((each) => ({
      size: each.size,
      spec: { ...each, count: each.size },
      tally: { ...emptyProgress, total: each.size, pending: each.size },
    }));
  }

  /** How many devices it has reached when it stops. */
  run(): number {
    while (!this.#isStopped() && this.#step());
    return this.#reached;
  }

  #step(): boolean {
    const tally = this.#waves[this.#current]?.tally;
    const canSend = tally !== undefined && tally.pending > 0 && this.#inFlight.length < this.job.maxInFlight;
    if (!canSend && this.#inFlight.length + this.#undecided.length === 0) return false;
    const die = this.roll();
    if (canSend && (die < 60 || this.#inFlight.length + this.#undecided.length === 0)) this.#send(tally);
    else if (this.#inFlight.length > 0 && (die < 90 || this.#undecided.length === 0))
      this.#answer(this.#inFlight.pop() ?? 0);
    else this.#fail(this.#undecided.pop() ?? 0);
    return true;
  }

  #send(tally: Tally): void {
    const count = Math.min(claimLimit(this.job, this.#inFlight.length), tally.pending);
    tally.pending -= count;
    tally.inFlight += count;
    this.#reached += count;
    for (let each = 0; each < count; each += 1) this.#inFlight.push(this.#current);
  }

  #answer(index: number): void {
    if (this.job.verification !== 'NONE' || (this.job.maxAttempts > 1 && this.roll() < 80)) this.#undecided.push(index);
    else this.#fail(index);
  }

  #fail(index: number): void {
    const tally = this.#waves[index]?.tally;
    if (tally === undefined) return;
    tally.inFlight -= 1;
    tally[this.roll() < 50 ? 'unknown' : this.job.verification === 'NONE' ? 'failed' : 'verifyFailed'] += 1;
  }

  #isStopped(): boolean {
    const tallies = this.#waves.map(({ tally }) => tally);
    const counters = Object.keys(emptyProgress) as (keyof JobProgress)[];
    const all = Object.fromEntries(
      counters.map((counter) => [counter, tallies.reduce((sum, tally) => sum + tally[counter], 0)]),
    );
    const open = this.#waves[this.#current];
    if (open === undefined) return true;
    const evidence = {
      job: all as unknown as JobProgress,
      wave: open.tally,
      overdue: { job: 0, wave: 0 },
      firstWaveSize: this.job.waves.length === 0 ? 0 : (this.#waves[0]?.size ?? 0),
    };
    const ruled = { abortRules: this.job.abortRules, trippedRule: undefined, currentWave: this.#current + 1 };
    if (findTrippedRule(ruled, evidence, 0) !== undefined) return true;
    if (this.#current === this.#waves.length - 1 || open.spec === undefined) return false;
    const moment = { now: 1, lastDecidedAt: 0, stragglerAfterMs: 600_000 };
    const at = { number: this.#current + 1, size: open.size, openedAt: 0, closedAt: undefined, approvedBy: undefined };
    const step = judgeGate({ ...open.spec, ...at }, open.tally, moment);
    if (step.kind === 'open') this.#current += 1;
    return step.kind === 'hold';
  }
}
