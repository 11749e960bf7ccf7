/**
 * A device that reconnects while the hub still holds its former connection: the newest wins, and
 * the former one ends without side effects.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool, deviceThat, eventsOf, isOnline, viewDevice } from '../src/devices/device-api.js';
import { eventually } from '../src/eventually.js';
import { answerAsFirmware, answerTo, notification, requestIn } from '../src/devices/firmware.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { metric } from '../src/hub/metrics.js';
import { online } from '../src/jobs/job-api.js';
import { RawMqttDevice } from '../src/devices/raw-mqtt-device.js';
import { RawWebSocketDevice } from '../src/devices/raw-websocket-device.js';
import { startFleet } from '../src/devices/simulated-fleet.js';

type Connect = (hub: HubProcess, mac: string) => Promise<RawMqttDevice | RawWebSocketDevice>;

const overMqtt: Connect = (hub, mac) => RawMqttDevice.connect(hub, mac);
const overMqttAsAnother: Connect = (hub, mac) => RawMqttDevice.connect(hub, mac, { group: 'GID_other' });
const overMqttInWebSocket: Connect = (hub, mac) => RawMqttDevice.connect(hub, mac, { over: 'websocket' });
const overWebSocket: Connect = (hub, mac) => RawWebSocketDevice.connect(hub, mac);

describe('a second connection of a device', () => {
  let hub: HubProcess;

  beforeAll(async () => {
    hub = await startHub();
  });
  afterAll(async () => {
    expect(await hub.stop()).toBe(0);
    expect(hub.log()).not.toMatch(/unhandled|callback_threw/i);
    removeDataDir(hub.dataDir);
  });

  it.each([
    ['with the same client id', '02:00:00:00:01:01', overMqtt, overMqtt],
    ['with another client id of the same MAC', '02:00:00:00:01:02', overMqtt, overMqttAsAnother],
    ['over MQTT in a WebSocket', '02:00:00:00:01:03', overMqtt, overMqttInWebSocket],
    ['over WebSocket after MQTT', '02:00:00:00:01:04', overMqtt, overWebSocket],
    ['over MQTT after WebSocket', '02:00:00:00:01:05', overWebSocket, overMqtt],
    ['over WebSocket after WebSocket', '02:00:00:00:01:06', overWebSocket, overWebSocket],
  ] as const)('%s takes over', async (_how, mac, connectFirst, connectSecond) => {
    const first = await connectFirst(hub, mac);
    const asked: number[] = [];
    first.answer = (text) => {
      const request = requestIn(text);
      if (request?.method !== 'tools/call') return answerAsFirmware(text);
      asked.push(request.id);
      return undefined;
    };
    await deviceThat(hub, mac, isOnline);
    const pending = callTool(hub, { deviceId: mac, tool: 'self.lamp.turn_on', timeoutMs: 20_000 });
    const [id = 0] = await eventually(
      () => asked,
      (ids) => ids.length > 0,
    );

    const second = await connectSecond(hub, mac);
    // The former connection sends once more, like late packets.
    first.say(answerTo({ id }, { content: [{ type: 'text', text: 'too late' }], isError: false }));
    first.say(notification('notifications/late'));
    expect(await pending).toMatchObject({ outcome: 'UNKNOWN', result: null, error: { code: 'SESSION_CLOSED' } });
    await first.closed();

    const device = await deviceThat(
      hub,
      mac,
      (view) => isOnline(view) && view.sessions[1]?.closeReason === 'taken_over',
    );
    expect(device.sessions).toMatchObject([{ disconnectedAt: null }, { closeReason: 'taken_over' }]);
    expect(device.sessions[0]?.epoch).toBe((device.sessions[1]?.epoch ?? 0) + 1);
    expect(await callTool(hub, { deviceId: mac, tool: 'self.lamp.turn_on' })).toMatchObject({ outcome: 'SUCCEEDED' });
    await eventually(
      () => eventsOf(hub, mac, 'device.disconnected'),
      (events) => events.length === 1 && events[0]?.['reason'] === 'taken_over',
    );
    expect(await eventsOf(hub, mac, 'device.notification')).toEqual([]);
    expect(await viewDevice(hub, mac)).toMatchObject({ presence: 'ONLINE' });
    second.drop();
    await deviceThat(hub, mac, ({ presence }) => presence === 'OFFLINE');
  });

  it('is counted as flapping if two devices with one id alternate, without harm to others', async () => {
    const fleet = startFleet(hub, { devices: 3, seed: 7 });
    try {
      await online(hub, 3);
      const [original, double, bystander] = ['02:00:07:00:00:00', '02:00:07:00:00:01', '02:00:07:00:00:02'] as const;
      fleet.command({ cmd: 'behaviour', device: double, behaviour: { kind: 'duplicateId', mac: original } });
      await eventually(
        () => metric(hub, 'flotilla_gateway_events_total', 'name="takeover_flapping"'),
        (count) => count >= 5,
      );
      expect(await callTool(hub, { deviceId: bystander, tool: 'self.get_device_status' })).toMatchObject({
        outcome: 'SUCCEEDED',
      });
      expect((await viewDevice(hub, bystander))?.sessions).toHaveLength(1);
    } finally {
      await fleet.stop();
    }
  });

  it('leaves no session behind after a hundred quick ones', async () => {
    const mac = '02:00:00:00:02:01';
    await online(hub, 0);
    let last: RawMqttDevice | undefined;
    for (let attempt = 0; attempt < 100; attempt++)
      last = await RawMqttDevice.connect(hub, mac, { group: `GID_${attempt % 3}` });
    await deviceThat(
      hub,
      mac,
      (view) => isOnline(view) && view.sessions.filter(({ disconnectedAt }) => disconnectedAt === null).length === 1,
    );
    expect(await metric(hub, 'flotilla_sessions')).toBe(1);
    expect(await callTool(hub, { deviceId: mac, tool: 'self.lamp.turn_on' })).toMatchObject({ outcome: 'SUCCEEDED' });
    const view = await viewDevice(hub, mac);
    // A session that ended before PostgreSQL was queried has no row.
    expect(view?.sessions[0]?.epoch).toSatisfy((epoch: number) => epoch > 0 && epoch <= 100);
    expect(new Set(view?.sessions.slice(1).map(({ closeReason }) => closeReason))).toEqual(new Set(['taken_over']));
    last?.drop();
    await deviceThat(hub, mac, ({ presence }) => presence === 'OFFLINE');
    expect(await metric(hub, 'flotilla_sessions')).toBe(0);
  });
});
