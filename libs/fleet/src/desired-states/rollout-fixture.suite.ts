/** Roll-outs of edits for specs: a worker over three devices, and an edit that waits at a gate. */
import type { JobId } from '@flotilla/mcp';
import { afterEach, beforeEach } from 'vitest';
import { admin } from '../fleet-fixture.suite.js';
import type { DesiredStateRunner } from './controller/desired-state-runner.js';
import { openDesiredFixture, requestOf } from './desired-fixture.suite.js';
import type { DesiredFixture } from './desired-fixture.suite.js';

export const wave = { count: 1, successThreshold: 0.9, soakSeconds: 0, gate: 'MANUAL' as const };
export const waves = [wave];
export const DAY_MS = 24 * 3_600_000;
export const inSync = { a: 'IN_SYNC', b: 'IN_SYNC', c: 'IN_SYNC' };

/** Gives each test of the describe block three devices and a worker, and closes them after it. */
export function withRollouts(take: (world: DesiredFixture, runner: DesiredStateRunner) => void): void {
  let world: DesiredFixture;
  beforeEach(async () => {
    world = await openDesiredFixture();
    await world.hub.connect(['a', 'b', 'c']);
    const runner = world.openRunner();
    await runner.load();
    take(world, runner);
  });
  afterEach(() => world.close());
}

/** The roll-out of an edit that waits at the gate of its first wave, which has one device. */
export async function editedInWaves(world: DesiredFixture, pace: { readonly perMinute?: number } = {}) {
  const state = await world.save({ devices: { ids: ['a', 'b', 'c'] } });
  await world.hub.clock.until(() => world.states(state)).toEqual(inSync);
  const { name, devices } = state;
  const request = requestOf({ name, devices, arguments: { volume: 70 }, waves, ...pace });
  const owner = { ...admin, id: state.savedById, mayCallTools: true };
  const edited = await world.hub.fleet.updateDesiredState(state.id, 1, request, owner);
  const jobId = 'state' in edited ? (edited.state.rolloutJobId as JobId) : ('' as JobId);
  await world.hub.clock.until(async () => (await world.hub.job(jobId)).pauseReason).toBe('WAVE_GATE');
  return { state, jobId, owner, request };
}
