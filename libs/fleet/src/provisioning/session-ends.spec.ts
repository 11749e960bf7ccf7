/** The end of sessions while Redis, or the gateway of the device, cannot be reached for a while. */
import { BusError } from '@flotilla/bus';
import type { DirectoryEntry } from '@flotilla/bus';
import type { DeviceId, HubProcessId } from '@flotilla/mcp';
import { ManualClock } from '@flotilla/session';
import { describe, expect, it } from 'vitest';
import { silent } from '../fleet-fixture.suite.js';
import { SessionEnds } from './session-ends.js';

const deviceId = 'board-1' as DeviceId;
const entry: DirectoryEntry = { deviceId, gatewayId: 'gateway' as HubProcessId, epoch: 3, toolSetHash: undefined };
const away = () => Promise.reject(new BusError('BUS_UNAVAILABLE', 'away'));

/** The bus of a hub with another process, which holds the session. */
function stage() {
  const bus = { isAway: false, isListed: true, receives: true, asked: 0, told: 0 };
  const clock = new ManualClock(0);
  const ends = new SessionEnds({
    clock,
    logger: silent,
    bus: {
      feed: { publish: () => (bus.told += 1) } as never,
      directory: { lookup: () => (bus.isAway ? away() : bus.isListed ? entry : undefined) } as never,
      calls: {
        disconnect: () => {
          bus.asked += 1;
          if (bus.isAway) return away();
          if (bus.receives) bus.isListed = false;
          return Promise.resolve(bus.receives);
        },
      } as never,
    },
  });
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 1_000) {
      clock.advance(1_000);
      await new Promise(setImmediate);
    }
  };
  return { bus, clock, ends, pass };
}

describe('the session of a device whose credentials are void', () => {
  it('is ended at once', async () => {
    const { bus, clock, ends } = stage();
    await ends.end(deviceId);
    expect([bus.asked, bus.told, clock.timers]).toEqual([1, 1, 0]);
  });

  it('is ended after an outage of Redis', async () => {
    const { bus, clock, ends, pass } = stage();
    bus.isAway = true;
    await ends.end(deviceId);
    await pass(10_000);
    expect(bus.isListed).toBe(true);
    bus.isAway = false;
    await pass(2_000);
    expect([bus.isListed, bus.asked, clock.timers]).toEqual([false, 1, 0]);
    // Also for a gateway where the device is still greeted.
    expect(bus.told).toBe(2);
  });

  it('is ended when its gateway, which did not receive the request, can be reached again', async () => {
    const { bus, clock, ends, pass } = stage();
    bus.receives = false;
    await ends.end(deviceId);
    await pass(4_000);
    bus.receives = true;
    await pass(2_000);
    expect([bus.isListed, clock.timers]).toEqual([false, 0]);
  });

  it('is left to the gateway after an hour, and when this process stops', async () => {
    const { bus, clock, ends, pass } = stage();
    bus.receives = false;
    await ends.end(deviceId);
    clock.advance(3_600_000);
    await pass(4_000);
    expect(clock.timers).toBe(0);
    await ends.end(deviceId);
    ends.stop();
    expect(clock.timers).toBe(0);
  });
});
