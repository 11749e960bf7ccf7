import type { Bus, SessionDirectory } from '@flotilla/bus';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lampId } from '../gateway-stage.suite.js';
import type { GatewayStage } from '../gateway-stage.suite.js';
import { openSpecHub } from '../spec-hub.suite.js';

const hub = openSpecHub();
let stage: GatewayStage;
let isAway = false;

/** The directory of the bus, which rejects each command like one in Redis that is unavailable. */
const directory: SessionDirectory = {
  put: (entry) => reach(() => hub.bus.directory.put(entry)),
  remove: (deviceId, epoch) => reach(() => hub.bus.directory.remove(deviceId, epoch)),
  lookup: (deviceId) => hub.bus.directory.lookup(deviceId),
};

async function reach(command: () => Promise<void>): Promise<void> {
  if (isAway) throw new Error('Redis does not answer.');
  await command();
}

const presence = async () => (await hub.registry.devices.find(lampId))?.presence;

beforeEach(async () => {
  isAway = false;
  const bus: Pick<Bus, 'directory' | 'feed'> = { directory, feed: hub.bus.feed };
  stage = await hub.openStage({ bus });
});

afterEach(() => stage.close());

describe('while the directory is unavailable', () => {
  it('the end of a session is recorded, once', async () => {
    const device = await stage.connectLamp();
    const { epoch } = await stage.entry();
    await stage.event('device.connected');
    isAway = true;
    device.conn.destroy();
    expect((await stage.event('device.disconnected')).data).toMatchObject({ epoch });
    expect(await presence()).toBe('OFFLINE');
    expect(stage.presences).toEqual(['ONLINE', 'OFFLINE']);
  });

  it('a new session is recorded, and its end as well', async () => {
    isAway = true;
    const device = await stage.connectLamp();
    await stage.event('device.connected');
    expect(await presence()).toBe('ONLINE');
    expect(stage.presences).toEqual(['ONLINE']);
    device.conn.destroy();
    await stage.event('device.disconnected');
    expect(await presence()).toBe('OFFLINE');
  });

  it('the gateway stops at once, with all ends written', async () => {
    await stage.connectLamp();
    await stage.event('device.connected');
    isAway = true;
    await stage.gateway.stop();
    expect(await presence()).toBe('OFFLINE');
  });
});
