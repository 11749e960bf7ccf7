import type { DeviceId } from '@flotilla/mcp';
import type { FencedTarget, OwnedDesiredState } from '@flotilla/registry';
import { ManualClock } from '@flotilla/session';
import { expect, it } from 'vitest';
import type { DesiredStateRunnerDeps } from './controller-deps.js';
import { LiveState } from './live-state.js';
import type { PendingSet } from './live-state.js';
import { DeviceQueue } from './device-queue.js';
import { SetSender } from './set-sender.js';
import type { SenderParts } from './set-sender.js';

const stateOf = (id: string, perMinute: number | undefined, clock: ManualClock) => {
  const state = { id, perMinute, maxInFlight: 10 };
  return new LiveState({ state, fence: 1 } as unknown as OwnedDesiredState, {} as never, clock.now());
};
const pendingSetOf = (deviceId: string, notBefore: number): readonly [DeviceId, PendingSet] => {
  const row = { deviceId, reverts: [], attempts: 0, state: 'APPLYING' };
  return [deviceId as DeviceId, { notBefore, row, generation: { wanted: {} } } as unknown as PendingSet];
};

it('tries a device that was held again after its time, while another desired state waits for its pace', async () => {
  const clock = new ManualClock(1_000_000);
  const [slow, other] = [stateOf('slow', 1, clock), stateOf('other', undefined, clock)];
  slow.pendingSets.set(...pendingSetOf('a', 0));
  other.pendingSets.set(...pendingSetOf('held', clock.now() + 1_000));
  const claimed: string[] = [];
  const claim = (_owner: string, targets: readonly FencedTarget[]) => {
    claimed.push(...targets.map(({ row }) => row.deviceId));
    return Promise.resolve([]);
  };
  const registry = { desiredStateQueue: { claim } };
  const deps = { registry, clock, lease: { id: 'p' }, singleCalls: { areExpected: false } };
  const parts = { states: { all: [slow, other] }, queue: new DeviceQueue(), onFree: () => undefined };
  const sender = new SetSender(deps as unknown as DesiredStateRunnerDeps, parts as unknown as SenderParts);
  sender.pump();
  await expect.poll(() => claimed).toEqual([]);
  clock.advance(1_000);
  await expect.poll(() => claimed).toEqual(['held']);
  await sender.stop(0);
});
