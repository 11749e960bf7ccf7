import { expect, it } from 'vitest';
import { hasLeftDevices } from './rollout-end';

const all = { expired: 0, cancelled: 0 };

it.each([
  ['runs', { state: 'RUNNING', conclusion: null, progress: { expired: 0, cancelled: 1 } } as const, false],
  ['waits for a person', { state: 'PAUSED', conclusion: null, progress: all } as const, false],
  ['has reached all devices', { state: 'FINISHED', conclusion: 'PARTIAL', progress: all } as const, false],
  ['was stopped', { state: 'FINISHED', conclusion: 'ABORTED', progress: all } as const, true],
  [
    'was cancelled',
    { state: 'FINISHED', conclusion: 'CANCELLED', progress: { expired: 0, cancelled: 3 } } as const,
    true,
  ],
  [
    'expired at a gate',
    { state: 'FINISHED', conclusion: 'PARTIAL', progress: { expired: 2, cancelled: 0 } } as const,
    true,
  ],
])('a roll-out that %s', (_, rollout, isLeft) => {
  expect(hasLeftDevices(rollout)).toBe(isLeft);
});
