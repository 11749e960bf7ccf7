/** A hub with devices of each kind: connected, registered but never seen, and removed. */
import { expect } from 'vitest';
import { ask } from '../api/graphql-client.js';
import { deviceThat, isOnline } from '../devices/device-api.js';
import { someUuid } from '../devices/device-credentials.js';
import {
  registerMqttDevice,
  registerWebSocketDevice,
  rotateMqttCredential,
  type MqttLogin,
} from '../devices/issued-credentials.js';
import { RawMqttDevice } from '../devices/raw-mqtt-device.js';
import { removeDataDir, startHub, type HubProcess } from './hub-process.js';

export const lampMac = '02:00:00:00:0a:01';
const otherMac = '02:00:00:00:0a:02';
export const talkerMac = '02:00:00:00:0a:03';
export const otherTalkerMac = '02:00:00:00:0a:04';
export const removedMac = '02:00:00:00:0a:05';
export const unseenMac = '02:00:00:00:0a:06';
export const unseenTalkerMac = '02:00:00:00:0a:07';
export const removedTalkerMac = '02:00:00:00:0a:08';

export interface GuardedHub {
  readonly hub: HubProcess;
  /** A connected MQTT device. */
  readonly lamp: RawMqttDevice;
  readonly lampLogin: MqttLogin;
  /** The previous credential of the lamp, invalid since the newer one was used. */
  readonly expiredLogin: MqttLogin;
  readonly otherLogin: MqttLogin;
  readonly removedLogin: MqttLogin;
  readonly talkerToken: string;
  readonly otherTalkerToken: string;
  /** Of devices that were registered without a proof and never connected. */
  readonly unseenLogin: MqttLogin;
  readonly unseenTalkerToken: string;
  readonly removedTalkerToken: string;
}

export async function startGuardedHub(): Promise<GuardedHub> {
  const hub = await startHub({ env: { FLOTILLA_DEVICE_AUTH: 'credentials', FLOTILLA_LOG_LEVEL: 'debug' } });
  const proof = { clientId: someUuid };
  const expiredLogin = await registerMqttDevice(hub, lampMac, proof);
  const registered = {
    otherLogin: await registerMqttDevice(hub, otherMac, proof),
    removedLogin: await registerMqttDevice(hub, removedMac, proof),
    talkerToken: await registerWebSocketDevice(hub, talkerMac, proof),
    otherTalkerToken: await registerWebSocketDevice(hub, otherTalkerMac, proof),
    unseenLogin: await registerMqttDevice(hub, unseenMac),
    unseenTalkerToken: await registerWebSocketDevice(hub, unseenTalkerMac),
    removedTalkerToken: await registerWebSocketDevice(hub, removedTalkerMac, proof),
  };
  (await connectMqtt(hub, expiredLogin)).drop();
  const lampLogin = await rotateMqttCredential(hub, lampMac);
  const lamp = await connectMqtt(hub, lampLogin);
  await deviceThat(hub, lampMac, isOnline);
  for (const id of [removedMac, removedTalkerMac])
    await ask(hub, 'mutation ($id: ID!) { removeDevice(deviceId: $id) { userErrors { code } } }', { id });
  return { hub, lamp, lampLogin, expiredLogin, ...registered };
}

/** Connects an MQTT device that the hub must accept. */
export async function connectMqtt(hub: HubProcess, login: MqttLogin): Promise<RawMqttDevice> {
  const device = await RawMqttDevice.dial(hub);
  device.hello(login);
  expect(await device.connack()).toBe(0);
  return device;
}

/** Stops the hub, which must have no internal errors in its log. */
export async function stopGuardedHub(hub: HubProcess): Promise<void> {
  expect(await hub.stop()).toBe(0);
  expect(hub.log()).not.toMatch(/unhandled|callback_threw|the broker failed/i);
  removeDataDir(hub.dataDir);
}
