/** The reason of each kind of disconnect, in the event, in the session's row and in presence. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { lampId } from '../gateway-stage.suite.js';
import type { GatewayStage } from '../gateway-stage.suite.js';
import { openSpecHub } from '../spec-hub.suite.js';
import type { MqttDevice } from '../mqtt/mqtt-device.suite.js';

const hub = openSpecHub();
let stage: GatewayStage;

beforeEach(async () => {
  stage = await hub.openStage();
});
afterEach(() => stage.close());

const ways: readonly (readonly [string, string, (device: MqttDevice) => unknown])[] = [
  ['takes its leave', 'device_closed', (device) => device.write({ cmd: 'disconnect' })],
  ['loses its connection', 'connection_lost', (device) => device.conn.destroy()],
  // A half-open connection: no FIN, and nothing comes any more, pings neither.
  ['is silent for longer than its keep-alive', 'connection_lost', () => undefined],
  ['breaks the protocol', 'protocol_error', (device) => device.writeBytes(Buffer.from([0xf0, 0xff, 0xff, 0xff, 0xff]))],
  ['connects again', 'taken_over', () => stage.connectLamp({ clientId: 'GID_lab@@@02_5E_7A_10_C4_9F@@@two' })],
  ['is disconnected by an operator', 'hub_closed', () => stage.gateway.callServer.disconnect(lampId)],
  ['is let go everywhere', 'hub_closed', () => hub.bus.feed.publish('expelled', { deviceId: lampId })],
  ['is there when the hub stops', 'hub_stopping', () => stage.gateway.stop()],
];

describe('a device', () => {
  it.each(ways)('that %s is gone for the reason %s', { timeout: 15_000 }, async (_way, reason, go) => {
    const before = (await hub.registry.devices.find(lampId))?.epoch ?? 0;
    const device = await stage.connectLamp({ keepalive: 1 });
    const { epoch } = await stage.entry(before);
    await go(device);
    await vi.waitFor(
      () =>
        expect(stage.events).toContainEqual(
          expect.objectContaining({ type: 'device.disconnected', data: { reason, epoch } }),
        ),
      8_000,
    );
    const [sessions = []] = await hub.registry.devices.sessions([lampId], 2);
    expect(sessions.find((session) => session.epoch === epoch)).toMatchObject({ closeReason: reason });
    const presence = reason === 'taken_over' ? 'ONLINE' : 'OFFLINE';
    await vi.waitFor(async () => expect(await hub.registry.devices.find(lampId)).toMatchObject({ presence }));
  });

  it('that is let go before it has answered the greeting is gone at once', async () => {
    const device = await stage.connectLamp({ silentOn: ['initialize'] });
    await vi.waitFor(() => expect(device.messages.some((text) => text.includes('initialize'))).toBe(true));
    expect(await hub.bus.directory.lookup(lampId)).toBeUndefined();
    hub.bus.feed.publish('expelled', { deviceId: lampId });
    await device.closed();
    await vi.waitFor(async () =>
      expect(await hub.registry.devices.sessions([lampId], 1)).toMatchObject([[{ closeReason: 'hub_closed' }]]),
    );
  });
});
