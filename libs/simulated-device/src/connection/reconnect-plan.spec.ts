/** The pauses before a device connects again. [xiaozhi §2.3] */
import { describe, expect, it } from 'vitest';
import { firmwarePauses } from './pauses.js';
import { ReconnectPlan } from './reconnect-plan.js';

/** Attempts after a loss at 0 while every one of them fails. */
function attempts(plan: ReconnectPlan, count: number): readonly (number | undefined)[] {
  const times: (number | undefined)[] = [];
  let now: number | undefined = 0;
  for (let index = 0; index < count && now !== undefined; index += 1) {
    now = plan.next(now, { wasConnected: index === 0, transport: 'mqtt' });
    times.push(now);
  }
  return times;
}

describe('ReconnectPlan', () => {
  it('tries every 10 s on Wi-Fi, and once more in between when the application makes a new client', () => {
    expect(attempts(new ReconnectPlan('wifi', { ...firmwarePauses, rebuildMs: 25_000 }), 5)).toEqual([
      10_000, 20_000, 25_000, 35_000, 45_000,
    ]);
  });

  it('forgets the new client once it is connected again', () => {
    const plan = new ReconnectPlan('wifi', { ...firmwarePauses, rebuildMs: 15_000 });
    plan.next(0, { wasConnected: true, transport: 'mqtt' });
    plan.reached();
    expect(plan.next(10_000, { wasConnected: false, transport: 'mqtt' })).toBe(20_000);
  });

  it('comes back after a minute over a cellular modem, and after a failed attempt not by itself', () => {
    expect(attempts(new ReconnectPlan('cellular', firmwarePauses), 3)).toEqual([60_000, undefined]);
  });
});
