import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { concludeJob } from '../conclude-job.js';
import { bucketSize } from '../pace/pace-bucket.js';
import { finish, happenings, options, runThrough, settleAll } from './model/happenings.suite.js';
import { World } from './model/run-world.suite.js';

describe('the run of a job, with all events in any order', () => {
  it('ends with an outcome for every target, and with the conclusion that they have', () => {
    fc.assert(
      fc.property(options, happenings(150), (given, all) => {
        const { rows } = finished(given, all);
        expect(rows.targets.every(({ state }) => state === 'DECIDED')).toBe(true);
        const { state, conclusion } = rows.job;
        expect(state).toBe('FINISHED');
        expect(conclusion).toBe(concludeJob(rows.progress, conclusion === 'ABORTED' ? 'ABORTED' : undefined));
      }),
      { numRuns: 100 },
    );
  });

  it('sends a call that must not be repeated at most once to each device', () => {
    fc.assert(
      fc.property(options, happenings(150), (given, all) => {
        const { rows } = finished({ ...given, idempotent: false }, all);
        expect(Math.max(0, ...rows.targets.map(({ sends }) => sends))).toBeLessThanOrEqual(1);
      }),
      { numRuns: 100 },
    );
  });

  it('sends nothing after a cancel, and a forced cancel waits for no answer', () => {
    fc.assert(
      fc.property(options, happenings(80), fc.boolean(), (given, all, isForced) => {
        const world = runThrough(given, all);
        if (world.isOver || world.rows.job.state === 'FINISHED') return;
        world.steer('cancel', isForced);
        world.performAll();
        const calls = world.calls.length;
        for (let turns = 0; turns < 50 && !world.isOver; turns += 1) {
          world.performAll();
          while (world.batches.length > 0) world.sendBatch();
          expect(world.calls.length).toBeLessThanOrEqual(calls);
          world.flush();
          if (!world.isOver) world.advance(1_000);
        }
        expect(world.isOver).toBe(isForced || calls === 0);
        finish(world);
        expect(['CANCELLED', 'ABORTED']).toContain(world.rows.job.conclusion);
      }),
      { numRuns: 100 },
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
      fc.property(options, happenings(80), (given, all) => {
        const world = runThrough(given, all);
        world.signal({ kind: 'stop' });
        settleAll(world);
        world.advance(100);
        expect(world.isOver).toBe(true);
        expect(world.batches).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });
});

function finished(...[given, all]: Parameters<typeof runThrough>): World {
  const world = runThrough(given, all);
  finish(world);
  return world;
}
