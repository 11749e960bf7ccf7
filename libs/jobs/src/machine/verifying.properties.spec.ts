import type { CallId } from '@flotilla/mcp';
import fc from 'fast-check';
import { assert, describe, expect, it } from 'vitest';
import { finish, happenings, options, runThrough, verifications } from './model/happenings.suite.js';
import { answered, modelTimes, unanswered } from './model/model-job.suite.js';
import type { WorldOptions } from './model/model-job.suite.js';
import { lookMsMax } from './model/model-verification.suite.js';
import { World } from './model/run-world.suite.js';

const verified = fc
  .tuple(options, fc.constantFrom(...verifications))
  .map(([given, verification]): WorldOptions => ({ ...given, verification }));

/** A run with all its targets in VERIFYING, or waiting for their turn. */
function verifyingRun(options: WorldOptions, outcome = answered): World {
  const world = new World({ maxInFlight: options.targetCount, ...options });
  world.begin();
  settleCalls(world, outcome);
  return world;
}

function settleCalls(world: World, outcome = answered): void {
  world.performAll();
  while (world.batches.length > 0) world.sendBatch();
  while (world.calls.length > 0) world.settle(0, outcome);
  world.flush();
  world.performAll();
}

describe('targets in VERIFYING, with all events in any order', () => {
  it('are judged by what their devices did, and never before their deadline without evidence', () => {
    // The world compares each verdict with the device when it is written.
    fc.assert(
      fc.property(verified, happenings(120), (given, all) => finish(runThrough(given, all))),
      { numRuns: 100 },
    );
  });

  it('are decided soon after their deadline at the latest', () => {
    fc.assert(
      fc.property(verified, happenings(120), (given, all) => {
        const world = runThrough({ ...given, abortRules: [] }, all);
        world.performAll();
        // After a look that took long, the next one comes later. No further look takes long.
        const { lookAt } = world.run.verifying;
        for (let turns = 0; turns < 40 && !world.isOver; turns += 1) {
          world.performAll();
          const late = world.rows
            .inState('VERIFYING')
            .filter(({ deadlineAt }) => world.now > Math.max(deadlineAt + modelTimes.soakMs, lookAt) + lookMsMax);
          if (turns > 10) assert.deepEqual(late, []);
          if (!world.isOver) world.advance(500);
        }
      }),
      { numRuns: 100 },
    );
  });
});

describe('a target in VERIFYING', () => {
  it('of an upgrade is decided by a late failure, and its device is restarted once', () => {
    const world = verifyingRun({ targetCount: 2, verification: 'FIRMWARE' }, unanswered);
    const target = world.answerLate(0, 'FAILED');
    world.advance(1_000);
    world.performAll();
    expect(target).toMatchObject({ state: 'DECIDED', outcome: 'VERIFY_FAILED' });
    expect(world.rows.inState('VERIFYING')).toHaveLength(1);
    finish(world);
    expect(world.restarted.filter((each) => each === target)).toHaveLength(1);
  });

  it('is looked at once for all late answers, as each look reads all targets', () => {
    const world = verifyingRun({ targetCount: 3, verification: 'FIRMWARE' }, unanswered);
    for (let call = 0; call < 50; call += 1)
      world.signal({ kind: 'lateAnswer', callId: `of another job/${call}` as CallId, outcome: 'FAILED' });
    const failed = [0, 1].map((target) => world.answerLate(target, 'FAILED'));
    world.advance(1_000);
    let looks = 0;
    for (; world.task !== undefined; world.perform()) if (world.task.kind === 'readVerifying') looks += 1;
    expect(looks).toBe(1);
    for (const target of failed) expect(target).toMatchObject({ state: 'DECIDED', outcome: 'VERIFY_FAILED' });
    expect(world.rows.inState('VERIFYING')).toHaveLength(1);
  });

  it.each(['REBOOT', 'READBACK'] as const)('of a %s waits on after a late answer', (verification) => {
    const world = verifyingRun({ targetCount: 1, verification }, unanswered);
    expect(world.answerLate(0, 'SUCCEEDED')).toMatchObject({ state: 'VERIFYING' });
    world.performAll();
    expect(world.rows.inState('VERIFYING')).toHaveLength(1);
  });

  it('has its value read again until it is answered, and passes with the value that was set', () => {
    const world = verifyingRun({ targetCount: 1, verification: 'READBACK' });
    const [target] = world.rows.targets;
    let reads = 0;
    for (let turns = 0; turns < 12 && reads < 2; turns += 1) {
      world.advance(500);
      world.performAll();
      if (world.reads.length > 0) world.endRead(0, (reads += 1) > 1);
      if (reads === 1 && target !== undefined) target.device.level = 1;
    }
    world.performAll();
    expect(reads).toBe(2);
    expect(target).toMatchObject({ state: 'DECIDED', outcome: 'SUCCEEDED' });
  });

  it('has its value read when that is due, and before others as soon as a slot is free', () => {
    const world = verifyingRun({ targetCount: 6, maxInFlight: 2, verification: 'READBACK', idempotent: true });
    while (world.rows.inState('VERIFYING').length < 6) settleCalls(world);
    expect((world.sleepsUntil ?? Infinity) - world.now).toBeLessThanOrEqual(modelTimes.readbackDelayMs);
    world.advance(modelTimes.readbackDelayMs);
    world.performAll();
    for (let reads = 0; reads < 6; reads += 1) {
      expect(world.reads.length).toBeGreaterThan(0);
      world.endRead(0, true);
      world.performAll();
    }
  });

  it('passes within a second of the return of its device', () => {
    const world = verifyingRun({ targetCount: 1, verification: 'REBOOT' });
    world.advance(3_000);
    const [target] = world.rows.targets;
    target?.device.boot(world.now, false);
    world.signal({ kind: 'devicesReturned', deviceIds: undefined });
    world.performAll();
    expect(target).toMatchObject({ outcome: 'SUCCEEDED', decidedAt: world.now });
  });

  it('gets time to come back after a restart of the hub', () => {
    const world = verifyingRun({ targetCount: 1, verification: 'REBOOT' });
    const [target] = world.rows.targets;
    target?.device.leave(world.now);
    world.now += modelTimes.rebootMs + 1_000;
    world.restart();
    world.performAll();
    expect(target).toMatchObject({ state: 'VERIFYING', deadlineAt: world.now + modelTimes.rejoinMs });
    world.now += modelTimes.rejoinMs - 1;
    world.advance(0);
    world.performAll();
    expect(target?.state).toBe('VERIFYING');
    world.advance(1_001);
    world.performAll();
    expect(target).toMatchObject({ outcome: 'UNKNOWN', error: { code: 'LOST_AFTER_RESTART' } });
  });

  it('of an upgrade is sent again once where the old firmware came back and the tool is idempotent', () => {
    const world = verifyingRun({ targetCount: 1, verification: 'FIRMWARE', idempotent: true });
    const [target] = world.rows.targets;
    for (let turns = 0; turns < 40 && !world.isOver; turns += 1) {
      settleCalls(world);
      world.advance(500);
      if (target?.state === 'VERIFYING' && turns % 4 === 3) {
        target.device.boot(world.now, false);
        world.signal({ kind: 'devicesReturned', deviceIds: undefined });
      }
    }
    expect(target).toMatchObject({ sends: 2, outcome: 'VERIFY_FAILED', error: { code: 'NOT_APPLIED_OR_ROLLED_BACK' } });
  });
});
