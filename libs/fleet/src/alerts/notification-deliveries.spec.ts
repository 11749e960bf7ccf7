import { ManualClock } from '@flotilla/session';
import { expect, it } from 'vitest';
import { NotificationDeliveries } from './notification-deliveries.js';
import type { DeliveryDeps } from './notification-deliveries.js';

it('gives up old messages once a minute, and at once when the clock was set back', async () => {
  const clock = new ManualClock(10_000_000);
  let looks = 0;
  const giveUpOld = () => {
    looks += 1;
    return Promise.resolve(0);
  };
  const deliveries = new NotificationDeliveries({
    registry: { notificationOutbox: { giveUpOld, claim: () => Promise.resolve(undefined) } },
    clock,
    lease: { id: 'worker' },
    sender: { attemptMs: 1 },
  } as unknown as DeliveryDeps);
  const looksAfter = async (stepMs: number): Promise<number> => {
    clock.step(stepMs);
    deliveries.wake();
    await deliveries.idle();
    return looks;
  };
  expect(await looksAfter(0)).toBe(1);
  expect(await looksAfter(59_999)).toBe(1);
  expect(await looksAfter(1)).toBe(2);
  expect(await looksAfter(-3_600_000)).toBe(3);
});
