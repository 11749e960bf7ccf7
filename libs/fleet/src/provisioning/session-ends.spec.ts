/** The end of sessions while Redis, or the gateway of the device, cannot be reached for a while. */
import { BusError } from '@flotilla/bus';
import type { DirectoryEntry } from '@flotilla/bus';
import type { DeviceId, HubProcessId } from '@flotilla/mcp';
import type { RemovedDevice } from '@flotilla/registry';
import { ManualClock } from '@flotilla/session';
import { describe, expect, it } from 'vitest';
import { silent } from '../fleet-fixture.suite.js';
import { SessionEnds } from './session-ends.js';

const removed: RemovedDevice = { id: 'board-1' as DeviceId, epoch: 3 };
/** A device whose gateway does not answer. */
const silentId = 'board-2' as DeviceId;
const gatewayId = 'gateway' as HubProcessId;
const away = () => Promise.reject(new BusError('BUS_UNAVAILABLE', 'away'));

/** The bus of a hub with another process, which holds the session. */
function stage() {
  const bus = { isAway: false, isListed: true, receives: true, epoch: 3, asked: 0, topics: [] as string[] };
  const entryOf = (deviceId: DeviceId): DirectoryEntry => ({
    deviceId,
    gatewayId,
    epoch: bus.epoch,
    toolSetHash: undefined,
  });
  const clock = new ManualClock(0);
  const ends = new SessionEnds({
    clock,
    logger: silent,
    bus: {
      feed: { publish: (topic: string) => bus.topics.push(topic) } as never,
      directory: { lookup: (id: DeviceId) => (bus.isAway ? away() : bus.isListed ? entryOf(id) : undefined) } as never,
      calls: {
        disconnect: (_gatewayId: HubProcessId, deviceId: DeviceId) => {
          if (deviceId === silentId) return new Promise(() => undefined);
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
    await ends.end(removed);
    expect([bus.asked, bus.topics, clock.timers]).toEqual([1, ['expelled'], 0]);
  });

  it('is ended after an outage of Redis', async () => {
    const { bus, clock, ends, pass } = stage();
    bus.isAway = true;
    await ends.end(removed);
    await pass(10_000);
    expect(bus.isListed).toBe(true);
    bus.isAway = false;
    await pass(2_000);
    expect([bus.isListed, bus.asked, clock.timers]).toEqual([false, 1, 0]);
    // Also for a gateway where the device is still greeted.
    expect(bus.topics).toEqual(['expelled', 'expelled']);
  });

  it('is ended when its gateway, which did not receive the request, can be reached again', async () => {
    const { bus, clock, ends, pass } = stage();
    bus.receives = false;
    await ends.end(removed);
    await pass(4_000);
    bus.receives = true;
    await pass(2_000);
    expect([bus.isListed, clock.timers]).toEqual([false, 0]);
  });

  it('goes on if it began with new credentials, and then only older ones end', async () => {
    const { bus, clock, ends, pass } = stage();
    bus.isAway = true;
    await ends.end(removed);
    // The device was registered again and connected.
    Object.assign(bus, { isAway: false, epoch: 4 });
    await pass(2_000);
    expect([bus.isListed, bus.asked, clock.timers]).toEqual([true, 0, 0]);
    expect(bus.topics).toEqual(['expelled', 'session']);
  });

  it('does not wait for a gateway that answers for other devices late', async () => {
    const { bus, ends, pass } = stage();
    bus.isAway = true;
    await ends.end({ id: silentId, epoch: 3 });
    await ends.end(removed);
    bus.isAway = false;
    await pass(2_000);
    expect(bus.isListed).toBe(false);
  });

  it('is left to the gateway after an hour, and when this process stops', async () => {
    const { bus, clock, ends, pass } = stage();
    bus.receives = false;
    await ends.end(removed);
    clock.advance(3_600_000);
    await pass(4_000);
    expect(clock.timers).toBe(0);
    await ends.end(removed);
    ends.stop();
    expect(clock.timers).toBe(0);
  });
});
