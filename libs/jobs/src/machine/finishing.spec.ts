import { describe, expect, it } from 'vitest';
import { finish, settleAll } from './model/happenings.suite.js';
import { answered, busy } from './model/model-job.suite.js';
import { World } from './model/run-world.suite.js';

describe('a job whose counters have lost a target', () => {
  it('waits for the device of this target', () => {
    const world = new World({ targetCount: 2 });
    const [, away] = world.rows.targets;
    away?.device.leave(world.now);
    world.begin();
    world.performAll();
    world.rows.loseCount('waitingDevice');
    settleAll(world);
    world.performAll();
    expect(world.rows.counted).toEqual(world.rows.progress);
    expect(world.rows.job.state).toBe('RUNNING');
    expect(away?.state).toBe('WAITING_DEVICE');

    finish(world);
    expect(world.rows.job).toMatchObject({ state: 'FINISHED', conclusion: 'SUCCEEDED' });
    expect(world.rows.progress).toMatchObject({ succeeded: 2 });
  });

  it('calls its device although the counters say that none is ready', () => {
    const world = new World({ targetCount: 2 });
    world.begin();
    world.performAll();
    world.sendBatch();
    world.settle(0, answered);
    world.settle(0, busy);
    world.flush();
    world.rows.loseCount('pending');
    world.performAll();
    expect(world.rows.counted).toEqual(world.rows.progress);
    expect(world.rows.progress).toMatchObject({ pending: 1, succeeded: 1 });

    finish(world);
    expect(world.rows.progress).toMatchObject({ succeeded: 2 });
  });
});

describe('a forced cancel', () => {
  it('awaits no call while its targets are being decided, so that an answer counts as a late one', () => {
    const world = new World({ targetCount: 2 });
    world.begin();
    world.performAll();
    world.sendBatch();
    expect(world.calls).toHaveLength(2);
    world.steer('cancel', true);
    while (world.task !== undefined && world.task.kind !== 'endInFlight') world.perform();
    expect(world.task).toMatchObject({ kind: 'endInFlight' });
    expect(world.calls).toEqual([]);
    finish(world);
    expect(world.rows.progress).toMatchObject({ unknown: 2 });
  });
});
