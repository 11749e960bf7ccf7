import { describe, expect, it } from 'vitest';
import { settleAll } from './model/happenings.suite.js';
import { World } from './model/run-world.suite.js';

describe('a job with a window', () => {
  it('pauses when the clock is set back to a time before its window', () => {
    // The model begins at 13:46 UTC.
    const world = new World({ targetCount: 40, maxInFlight: 1, window: { from: '13:00', to: '14:00', zone: 'UTC' } });
    world.begin();
    world.performAll();
    expect(world.rows.job.state).toBe('RUNNING');
    world.setBack(2 * 3_600_000);
    settleAll(world);
    world.performAll();
    expect(world.rows.job).toMatchObject({ state: 'PAUSED', pauseReason: 'WINDOW_CLOSED' });
  });
});
