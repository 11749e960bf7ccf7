import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AbortRule } from '../abort/abort-rule.js';
import { concludeJob } from '../conclude-job.js';
import { bucketSize } from '../pace/token-bucket.js';
import type { WaveSpec } from '../waves/wave.js';
import { answered, busy, failed, offline, unanswered } from './model-job.suite.js';
import type { WorldOptions } from './model-job.suite.js';
import { World } from './run-world.suite.js';

const canary: WaveSpec = { count: 2, successThreshold: 0.5, soakSeconds: 0, gate: 'AUTO' };
const soaking: WaveSpec = { percent: 50, successThreshold: 0.5, soakSeconds: 2, gate: 'AUTO' };
const manual: WaveSpec = { count: 3, successThreshold: 0, soakSeconds: 0, gate: 'MANUAL' };
const threeFail: AbortRule = { outcomes: ['FAILED', 'UNKNOWN'], scope: 'JOB', count: 3, action: 'CANCEL' };
const halfFail: AbortRule = { outcomes: ['FAILED'], scope: 'JOB', ratio: 0.5, minDecided: 4, action: 'PAUSE' };

const options: fc.Arbitrary<WorldOptions> = fc.record({
  targetCount: fc.nat(12),
  maxInFlight: fc.integer({ min: 1, max: 6 }),
  idempotent: fc.boolean(),
  perMinute: fc.option(fc.integer({ min: 60, max: 6_000 }), { nil: undefined }),
  waves: fc.constantFrom([], [], [canary], [canary, soaking], [manual, soaking]),
  abortRules: fc.constantFrom([], [], [threeFail], [halfFail], [halfFail, threeFail]),
});

/** One thing that happens: the weights let most tasks come to their end between the others. */
const happening = fc.oneof(
  { weight: 12, arbitrary: fc.record({ kind: fc.constant('perform' as const) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('send' as const) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      index: fc.nat(5),
      outcome: fc.constantFrom(answered, answered, failed, unanswered, busy, offline),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('flush' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: 3_000 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('device' as const), index: fc.nat(11), isOnline: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('steer' as const), event: fc.constantFrom('pause', 'resume') }),
  },
);
type Happening = typeof happening extends fc.Arbitrary<infer Value> ? Value : never;

function happen(world: World, what: Happening): void {
  switch (what.kind) {
    case 'perform':
      return world.perform();
    case 'send':
      return world.sendBatch();
    case 'settle':
      return world.settle(what.index, what.outcome);
    case 'flush':
      return world.flush();
    case 'advance':
      return world.advance(what.ms);
    case 'steer':
      return world.steer(what.event as 'pause' | 'resume');
    case 'device': {
      const target = world.targets[what.index];
      if (target === undefined) return;
      target.isOnline = what.isOnline;
      if (what.isOnline) world.tell({ kind: 'devicesReturned', deviceIds: [target.deviceId] });
    }
  }
}

/** Lets everything go well until the run is over. */
function finish(world: World): void {
  for (const target of world.targets) target.isOnline = true;
  for (let turns = 0; !world.isOver; turns += 1) {
    expect(turns, 'the run comes to an end').toBeLessThan(500);
    if (world.row.state === 'PAUSED') world.steer('resume');
    while (world.task !== undefined) world.perform();
    while (world.batches.length > 0) world.sendBatch();
    while (world.calls.length > 0) world.settle(0, answered);
    world.flush();
    if (!world.isOver && world.task === undefined) world.advance(1_000);
  }
}

function runThrough(given: WorldOptions, happenings: readonly Happening[]): World {
  const world = new World(given);
  world.begin();
  for (const what of happenings) if (!world.isOver) happen(world, what);
  return world;
}

describe('the run of a job, with all events in any order', () => {
  it('ends with an outcome for every target, and with the conclusion that they have', () => {
    fc.assert(
      fc.property(options, fc.array(happening, { maxLength: 150 }), (given, happenings) => {
        const world = runThrough(given, happenings);
        finish(world);
        expect(world.targets.every(({ state }) => state === 'DECIDED')).toBe(true);
        const { state, conclusion } = world.row;
        expect(state).toBe('FINISHED');
        expect(conclusion).toBe(concludeJob(world.progress, conclusion === 'ABORTED' ? 'ABORTED' : undefined));
      }),
      { numRuns: 200 },
    );
  });

  it('sends a call that must not be repeated at most once to each device', () => {
    fc.assert(
      fc.property(options, fc.array(happening, { maxLength: 150 }), (given, happenings) => {
        const world = runThrough({ ...given, idempotent: false }, happenings);
        finish(world);
        expect(Math.max(0, ...world.targets.map(({ sends }) => sends))).toBeLessThanOrEqual(1);
      }),
      { numRuns: 200 },
    );
  });

  it('sends nothing after a cancel, and a forced cancel waits for no answer', () => {
    fc.assert(
      fc.property(options, fc.array(happening, { maxLength: 80 }), fc.boolean(), (given, happenings, isForced) => {
        const world = runThrough(given, happenings);
        if (world.isOver || world.row.state === 'FINISHED') return;
        world.steer('cancel', isForced);
        while (world.task !== undefined) world.perform();
        const calls = world.calls.length;
        for (let turns = 0; turns < 50 && !world.isOver; turns += 1) {
          while (world.task !== undefined) world.perform();
          while (world.batches.length > 0) world.sendBatch();
          expect(world.calls.length).toBeLessThanOrEqual(calls);
          world.flush();
          if (!world.isOver) world.advance(1_000);
        }
        expect(world.isOver).toBe(isForced || calls === 0);
        finish(world);
        expect(['CANCELLED', 'ABORTED']).toContain(world.row.conclusion);
      }),
      { numRuns: 200 },
    );
  });

  it('keeps its pace over every stretch of time', () => {
    const paced = fc.record({ targetCount: fc.constant(25), maxInFlight: fc.constant(25), idempotent: fc.boolean() });
    fc.assert(
      fc.property(paced, fc.integer({ min: 60, max: 6_000 }), (given, perMinute) => {
        const world = new World({ ...given, perMinute });
        world.begin();
        finish(world);
        for (const [first, { at: from }] of world.claims.entries()) {
          let sent = 0;
          for (const { at, count } of world.claims.slice(first)) {
            sent += count;
            expect(sent).toBeLessThanOrEqual(bucketSize(perMinute) + ((at - from) * perMinute) / 60_000 + 1);
          }
        }
      }),
      { numRuns: 30 },
    );
  });

  it('ends once all calls have ended when the process stops', () => {
    fc.assert(
      fc.property(options, fc.array(happening, { maxLength: 80 }), (given, happenings) => {
        const world = runThrough(given, happenings);
        world.tell({ kind: 'stop' });
        while (world.task !== undefined) world.perform();
        while (world.batches.length > 0) world.sendBatch();
        while (world.calls.length > 0) world.settle(0, answered);
        world.flush();
        world.advance(100);
        expect(world.isOver).toBe(true);
        expect(world.batches).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});
