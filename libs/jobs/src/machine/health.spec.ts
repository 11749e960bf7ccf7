/** The health gate in the run of a job, over the model of PostgreSQL and devices. */
import { describe, expect, it } from 'vitest';
import type { HealthEvidence, HealthGate } from '../health/health-gate.js';
import type { DailyWindow } from '../schedule/daily-window.js';
import { settleAll } from './model/happenings.suite.js';
import { World } from './model/run-world.suite.js';

const gate: HealthGate = { observeSeconds: 30, action: 'PAUSE' };
const waves = [{ count: 2, successThreshold: 0.5, soakSeconds: 0, gate: 'AUTO' }] as const;
const well: HealthEvidence = {
  version: '2.0.0',
  restarts: 0,
  deviceHours: 1,
  baselineRestarts: 0,
  baselineDeviceHours: 1,
  loopingDevices: 0,
};

const looping = (): HealthEvidence => ({ ...well, restarts: 9, loopingDevices: 3 });

function worldWith(change: Partial<HealthGate> = {}, window?: DailyWindow): World {
  const world = new World({ targetCount: 4, waves, healthGate: { ...gate, ...change }, ...(window && { window }) });
  world.health = () => well;
  world.begin();
  return world;
}

/** Lets so many seconds pass, and carries out all that is due. */
function pass(world: World, seconds: number): void {
  for (let second = 0; second < seconds && !world.isOver; second++) {
    settleAll(world);
    world.performAll();
    world.advance(1_000);
    world.performAll();
  }
}

describe('a roll-out with a health gate', () => {
  it('watches each wave, the last one too, before it goes on', () => {
    const world = worldWith();
    pass(world, 25);
    expect(world.rows.job.currentWave).toBe(1);
    pass(world, 10);
    expect(world.rows.job.currentWave).toBe(2);
    pass(world, 20);
    expect(world.rows.progress.succeeded).toBe(4);
    expect(world.rows.job.state).toBe('RUNNING');
    pass(world, 40);
    expect(world.rows.job).toMatchObject({ state: 'FINISHED', conclusion: 'SUCCEEDED' });
  });

  it('watches a device of an earlier wave that is upgraded after all others', () => {
    const world = worldWith();
    const [first] = world.rows.targets;
    first?.device.leave(world.now);
    pass(world, 160);
    expect(world.rows.progress).toMatchObject({ succeeded: 3, waitingDevice: 1 });
    first?.device.connect(world.now);
    world.signal({ kind: 'devicesReturned', deviceIds: undefined });
    pass(world, 25);
    expect(world.rows.progress.succeeded).toBe(4);
    expect(world.rows.job.state).toBe('RUNNING');
    pass(world, 10);
    expect(world.rows.job).toMatchObject({ state: 'FINISHED', conclusion: 'SUCCEEDED' });
  });

  it('pauses in its first wave where devices loop, and goes on when it is resumed', () => {
    const world = worldWith();
    pass(world, 5);
    world.health = looping;
    pass(world, 15);
    expect(world.rows.job).toMatchObject({ state: 'PAUSED', pauseReason: 'HEALTH_GATE', currentWave: 1 });
    expect(world.rows.job.trippedHealthGate).toMatchObject({ version: '2.0.0', restarts: 9 });
    expect(world.rows.progress.succeeded).toBe(2);
    pass(world, 60);
    expect(world.rows.job.state).toBe('PAUSED');
    world.health = () => well;
    world.steer('resume');
    pass(world, 120);
    expect(world.rows.job).toMatchObject({ state: 'FINISHED', conclusion: 'SUCCEEDED' });
  });

  it('is looked at when the clock is set back', () => {
    const world = worldWith();
    pass(world, 5);
    world.setBack(3_600_000);
    world.health = looping;
    pass(world, 15);
    expect(world.rows.job).toMatchObject({ state: 'PAUSED', pauseReason: 'HEALTH_GATE' });
  });

  it('stays paused in its last wave until a person decides, although all targets are decided', () => {
    const world = worldWith();
    pass(world, 45);
    expect(world.rows.job.currentWave).toBe(2);
    world.health = looping;
    pass(world, 100);
    expect(world.rows.job).toMatchObject({ state: 'PAUSED', pauseReason: 'HEALTH_GATE', currentWave: 2 });
  });

  it('is aborted where its action is CANCEL', () => {
    const world = worldWith({ action: 'CANCEL' });
    pass(world, 5);
    world.health = looping;
    pass(world, 30);
    expect(world.rows.job).toMatchObject({ state: 'FINISHED', conclusion: 'ABORTED' });
  });

  it('is watched on where its window closes after the last device', () => {
    const world = worldWith({ observeSeconds: 60 }, { from: '13:00', to: '13:48', zone: 'UTC' });
    pass(world, 90);
    expect(world.rows.job).toMatchObject({ state: 'PAUSED', pauseReason: 'WINDOW_CLOSED', currentWave: 2 });
    expect(world.rows.progress.succeeded).toBe(4);
    world.health = looping;
    pass(world, 15);
    expect(world.rows.job).toMatchObject({ state: 'PAUSED', pauseReason: 'HEALTH_GATE' });
    expect(world.rows.job.trippedHealthGate).toMatchObject({ restarts: 9 });
    pass(world, 100);
    expect(world.rows.job.state).toBe('PAUSED');
  });

  it('is watched on where an operator pauses it after the last device, and ends when all is well', () => {
    for (const [health, expected] of [
      [looping, { state: 'FINISHED', conclusion: 'ABORTED' }],
      [() => well, { state: 'FINISHED', conclusion: 'SUCCEEDED' }],
    ] as const) {
      const world = worldWith({ action: 'CANCEL' });
      pass(world, 45);
      world.steer('pause');
      world.health = health;
      pass(world, 5);
      expect(world.rows.job.conclusion).not.toBe('SUCCEEDED');
      pass(world, 60);
      expect(world.rows.job).toMatchObject(expected);
    }
  });

  it('is not looked at while it is paused and has more to send', () => {
    const world = worldWith();
    pass(world, 5);
    world.steer('pause');
    world.health = looping;
    pass(world, 60);
    expect(world.rows.job).toMatchObject({ state: 'PAUSED', pauseReason: 'USER' });
    world.steer('resume');
    pass(world, 5);
    expect(world.rows.job).toMatchObject({ state: 'PAUSED', pauseReason: 'HEALTH_GATE', currentWave: 1 });
  });

  it('ends ABORTED where no person decides before it expires', () => {
    const world = worldWith();
    pass(world, 45);
    world.health = looping;
    pass(world, 30);
    expect(world.rows.job).toMatchObject({ state: 'PAUSED', pauseReason: 'HEALTH_GATE' });
    world.now = world.rows.job.expiresAt;
    pass(world, 5);
    expect(world.rows.progress.succeeded).toBe(4);
    expect(world.rows.job).toMatchObject({ state: 'FINISHED', conclusion: 'ABORTED' });
  });

  it('is not watched after it has expired', () => {
    const world = worldWith({ observeSeconds: 600 });
    pass(world, 10);
    expect(world.rows.progress.succeeded).toBe(2);
    world.rows.job = { ...world.rows.job, expiresAt: world.now };
    pass(world, 5);
    expect(world.rows.job).toMatchObject({ state: 'FINISHED', conclusion: 'PARTIAL' });
  });
});
