/** Restarts that uptimes show while the wall clock of the hub is set, on a real PostgreSQL. */
import type { DeviceId } from '@flotilla/mcp';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../ingress.suite.js';
import { openSpecHub } from '../spec-hub.suite.js';
import { BootSigns } from './boot-signs.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const hub = openSpecHub();

/** A machine with a hub, whose clock may be set. It runs long after the spec takes its lease. */
class Machine {
  steadyMs = 0;
  wallMs = Date.now() + 10 * HOUR;
  #signs = this.#process();

  restartsHub(): void {
    this.#signs = this.#process();
  }

  passes(ms: number): void {
    this.steadyMs += ms;
    this.wallMs += ms;
  }

  setsClock(byMs: number): Promise<void> {
    this.wallMs += byMs;
    return this.#signs.compareClocks();
  }

  async hears(deviceId: DeviceId, uptimeMs: number): Promise<void> {
    this.#signs.greeted(deviceId, { model: 'm', firmwareVersion: '1.0.0', uptimeMs });
    await this.#signs.compareClocks();
    // Waits for the rows that are queued.
    await hub.registry.restarts.moveBoots([]);
  }

  #process(): BootSigns {
    return new BootSigns({
      restarts: hub.registry.restarts,
      logger: silentLogger,
      clock: { now: () => this.wallMs },
      steadyNow: () => this.steadyMs,
    });
  }
}

async function known(id: string, connectedAt: number): Promise<DeviceId> {
  const deviceId = id as DeviceId;
  await hub.registry.devices.connect({
    deviceId,
    dialect: 'MCPU',
    transport: 'WEBSOCKET',
    reachability: 'ALWAYS',
    connectedAt,
    remoteAddress: '127.0.0.1:1',
  });
  return deviceId;
}
const restarts = async () => {
  const explainedFor = { rebootMs: MINUTE, firmwareMs: MINUTE };
  const judged = await hub.registry.restarts.judge(Date.now() + 1_000 * HOUR, explainedFor);
  return judged.restarts.map(({ deviceId, cause }) => `${deviceId} ${cause}`);
};

describe.each([
  ['ahead', HOUR],
  ['back', -HOUR],
])('after the clock was set %s', (direction, stepMs) => {
  it('a device that connects again with a continued uptime did not restart, and a later restart counts', async () => {
    const machine = new Machine();
    const id = await known(`a-${direction}`, machine.wallMs);
    await machine.hears(id, 5_000);
    machine.passes(10 * MINUTE);
    await machine.setsClock(stepMs);
    machine.passes(MINUTE);
    await machine.hears(id, 11 * MINUTE + 5_000);
    expect(await restarts()).toEqual([]);
    machine.passes(10 * MINUTE);
    await machine.hears(id, 7_000);
    expect(await restarts()).toEqual([`${id} UNEXPECTED`]);
  });

  it('a device that restarted meanwhile did restart', async () => {
    const machine = new Machine();
    const id = await known(`b-${direction}`, machine.wallMs);
    await machine.hears(id, 5_000);
    machine.passes(10 * MINUTE);
    await machine.setsClock(stepMs);
    machine.passes(MINUTE);
    await machine.hears(id, 50_000);
    expect(await restarts()).toEqual([`${id} UNEXPECTED`]);
  });

  it('a device with a slow clock did not restart', async () => {
    const machine = new Machine();
    const id = await known(`s-${direction}`, machine.wallMs);
    await machine.hears(id, 5_000);
    machine.passes(48 * HOUR);
    await machine.hears(id, 0.992 * 48 * HOUR);
    await machine.setsClock(stepMs);
    machine.passes(MINUTE);
    await machine.hears(id, 0.992 * 48 * HOUR + MINUTE);
    expect(await restarts()).toEqual([]);
  });

  it('the next process of the hub knows which devices did not restart', async () => {
    const machine = new Machine();
    const id = await known(`c-${direction}`, machine.wallMs);
    await machine.hears(id, 5_000);
    machine.passes(10 * MINUTE);
    await machine.setsClock(stepMs);
    machine.restartsHub();
    machine.passes(MINUTE);
    await machine.hears(id, 11 * MINUTE + 5_000);
    expect(await restarts()).toEqual([]);
    machine.passes(5 * MINUTE);
    await machine.hears(id, 2_000);
    expect(await restarts()).toEqual([`${id} UNEXPECTED`]);
  });
});

it('a start that another gateway noted does not move', async () => {
  const [one, other] = [new Machine(), new Machine()];
  const id = await known('moved', one.wallMs);
  await one.hears(id, 5_000);
  for (const machine of [one, other]) machine.passes(10 * MINUTE);
  await other.hears(id, 5_000);
  expect(await restarts()).toEqual(['moved UNEXPECTED']);
  await one.setsClock(HOUR);
  for (const machine of [one, other]) machine.passes(2 * MINUTE);
  await other.hears(id, 5_000);
  expect(await restarts()).toEqual(['moved UNEXPECTED']);
});
