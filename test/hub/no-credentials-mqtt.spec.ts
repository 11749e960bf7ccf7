/** MQTT admits no client without valid credentials: none, wrong, expired, or of another device. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import mqtt from 'mqtt-packet';
import { callTool, deviceThat, eventsOf, isOnline, viewDevice } from '../src/devices/device-api.js';
import { clientIdOf, mqttLogin } from '../src/devices/device-credentials.js';
import type { MqttLogin } from '../src/devices/issued-credentials.js';
import { RawMqttDevice } from '../src/devices/raw-mqtt-device.js';
import { eventually } from '../src/eventually.js';
import {
  connectMqtt,
  lampMac,
  removedMac,
  startGuardedHub,
  stopGuardedHub,
  unseenMac,
} from '../src/hub/guarded-hub.js';
import type { HubProcess } from '../src/hub/hub-process.js';

let hub: HubProcess;
let lamp: RawMqttDevice;
let lampLogin: MqttLogin;
let expiredLogin: MqttLogin;
let otherLogin: MqttLogin;
let removedLogin: MqttLogin;
let unseenLogin: MqttLogin;

beforeAll(async () => {
  ({ hub, lamp, lampLogin, expiredLogin, otherLogin, removedLogin, unseenLogin } = await startGuardedHub());
});

afterAll(async () => {
  lamp.drop();
  await stopGuardedHub(hub);
});

/** The lamp is still connected and answers. */
async function expectLampUnharmed(): Promise<void> {
  expect(lamp.isClosed).toBe(false);
  expect(await callTool(hub, { deviceId: lampMac, tool: 'self.lamp.turn_on' })).toMatchObject({ outcome: 'SUCCEEDED' });
}

describe('MQTT', () => {
  const attempts = (): readonly (readonly [string, Parameters<RawMqttDevice['hello']>[0], number])[] => {
    const { clientId, username, password } = lampLogin;
    return [
      ['none', { clientId }, 5],
      ['a user name alone', { clientId, username }, 5],
      ['a wrong password', { ...lampLogin, password: Buffer.from(`${password.toString()}x`) }, 4],
      ['an empty password', { ...lampLogin, password: Buffer.alloc(0) }, 5],
      ['a password that is not text', { ...lampLogin, password: Buffer.from([0, 0xff, 0xfe]) }, 4],
      ['the previous password', expiredLogin, 4],
      ['the previous password under the new client id', { ...lampLogin, password: expiredLogin.password }, 4],
      ["another device's password", { ...lampLogin, password: otherLogin.password }, 4],
      ["another device's name and password", { ...otherLogin, clientId }, 4],
      ["another device's client id", { ...lampLogin, clientId: otherLogin.clientId }, 4],
      ["a removed device's credentials", removedLogin, 4],
      [
        "a registered, never seen device's name and another's password",
        { ...unseenLogin, password: otherLogin.password },
        4,
      ],
      [
        "a registered, never seen device's name and password under another client id",
        { ...unseenLogin, clientId: clientIdOf(unseenMac) },
        4,
      ],
      ["a registered, never seen device's client id alone", { clientId: unseenLogin.clientId }, 5],
      ['a MAC and nothing else', { clientId: clientIdOf(lampMac) }, 5],
      [
        "the fleet's secret, which does not count here",
        { clientId: clientIdOf(lampMac), ...mqttLogin(hub.deviceSecret, clientIdOf(lampMac)) },
        4,
      ],
      ['no client id', { clientId: '', username, password }, 2],
      ['a client id with a control character', { ...lampLogin, clientId: `${clientId}\u0007` }, 2],
      ['a client id without end', { ...lampLogin, clientId: 'x'.repeat(1_000) }, 2],
    ];
  };

  it.each(['tcp', 'websocket'] as const)('over %s admits only the device itself', async (over) => {
    for (const [what, hello, code] of attempts()) {
      const stranger = await RawMqttDevice.dial(hub, over);
      stranger.hello(hello);
      expect(await stranger.connack(), what).toBe(code);
      await stranger.closed();
      expect(stranger.packets, what).toHaveLength(1);
    }
    expect(await viewDevice(hub, removedMac)).toBeNull();
    await expectLampUnharmed();
  });

  it('has no session for a client without an id', async () => {
    const stranger = await RawMqttDevice.dial(hub);
    const hello = mqtt.generate({
      ...lampLogin,
      cmd: 'connect',
      protocolId: 'MQTT',
      protocolVersion: 4,
      clientId: '',
      clean: true,
    });
    // Libraries cannot write this: clean session false. The flags follow the protocol's name and
    // level. [MQTT-3.1.3-8]
    hello.writeUInt8(hello.readUInt8(9) & ~0x02, 9);
    stranger.stream.write(hello);
    expect(await stranger.connack()).toBe(2);
    await stranger.closed();
  });

  it('reports failures of a known device once a minute and without a secret', async () => {
    const events = await eventually(
      () => eventsOf(hub, lampMac, 'device.auth_refused'),
      (found) => found.length > 0,
    );
    expect(events).toHaveLength(1);
    const text = JSON.stringify(events);
    for (const secret of [lampLogin.password.toString(), lampLogin.clientId, expiredLogin.password.toString()])
      expect(text).not.toContain(secret);
  });

  it('allows the device to take over its session, and reports that', async () => {
    const second = await connectMqtt(hub, lampLogin);
    await lamp.closed();
    await deviceThat(hub, lampMac, (view) => isOnline(view) && view.sessions[1]?.closeReason === 'taken_over');
    await eventually(
      () => eventsOf(hub, lampMac, 'device.disconnected'),
      (events) => events.some(({ reason }) => reason === 'taken_over'),
    );
    lamp = second;
    await expectLampUnharmed();
  });
});

describe('a registered device that was never seen', () => {
  it('can connect after the attempts of strangers', async () => {
    const device = await connectMqtt(hub, unseenLogin);
    await deviceThat(hub, unseenMac, isOnline);
    device.drop();
  });
});
