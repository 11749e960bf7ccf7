/**
 * Random bytes and messages at every listener and inside sessions: afterwards the hub is as before,
 * and a normal device works.
 */
import { once } from 'node:events';
import { connect as dialTcp, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../src/eventually.js';
import { FuzzSource } from '../src/fuzz/fuzz-source.js';
import { requestIn } from '../src/devices/firmware.js';
import { startHubUnderFire, type HubUnderFire } from '../src/fuzz/hub-under-fire.js';
import { metric } from '../src/hub/metrics.js';
import { RawMqttDevice } from '../src/devices/raw-mqtt-device.js';
import { RawWebSocketDevice, webSocketHello } from '../src/devices/raw-websocket-device.js';

const isLong = process.env['FLOTILLA_TEST_LONG'] === '1';
const FUZZ_INPUTS = isLong ? 200_000 : 20_000;
/**
 * Growth of memory in the second half of the inputs, bytes: noise of the garbage collector. The
 * first half fills caches and the young generation.
 */
const LEFT_BYTES_MAX = 128 * 1024 * 1024;
/** Connections of strangers at once, to each port. */
const STRANGERS = 50;

const mac = '02:00:00:00:09:01';
const otherMac = '02:00:00:00:09:02';

describe('a hub that is sent noise', () => {
  let fire: HubUnderFire;

  beforeAll(async () => {
    fire = await startHubUnderFire();
  });
  afterAll(() => fire.stop());

  it(`survives ${FUZZ_INPUTS} random inputs of every kind without a trace`, async () => {
    const { hub } = fire;
    const oneSession = () =>
      eventually(
        () => metric(hub, 'flotilla_sessions'),
        (count) => count === 1,
      );
    await oneSession();
    const fuzz = new FuzzSource(Number(process.env['FLOTILLA_TEST_SEED'] ?? 1));
    await sendNoise(fire, fuzz, FUZZ_INPUTS / 2);
    const before = await metric(hub, 'flotilla_process_resident_memory_bytes');
    await sendNoise(fire, fuzz, FUZZ_INPUTS / 2);
    await oneSession();
    await eventually(
      () => metric(hub, 'flotilla_unproven_connections'),
      (count) => count === 0,
    );
    expect((await metric(hub, 'flotilla_process_resident_memory_bytes')) - before).toBeLessThan(LEFT_BYTES_MAX);
    await fire.expectUnharmed();
  });
});

/**
 * Sends `count` inputs: bytes to the listeners, messages of admitted devices, frames on upgraded
 * connections.
 */
async function sendNoise({ hub, victim }: HubUnderFire, fuzz: FuzzSource, count: number): Promise<void> {
  const upload = uploadOf(victim);
  let sent = 0;
  while (sent < count) {
    sent += await throwAt(hub.mqttPort, 4, () => fuzz.mqttBytes());
    // One request for each: what is wrong with it ends the connection.
    sent += await throwAt(hub.httpPort, 1, () => fuzz.httpBytes(upload));
    // Messages of admitted devices, and frames on upgraded connections.
    const device = await RawMqttDevice.connect(hub, mac);
    for (let n = 0; n < 500; n++, sent++) device.say(fuzz.envelope());
    for (let n = 0; n < 100 && !device.isClosed; n++, sent++) device.stream.write(fuzz.mqttBytes());
    device.drop();
    const talker = await RawWebSocketDevice.dial(hub, otherMac);
    talker.say(webSocketHello);
    for (let n = 0; n < 500; n++, sent++) talker.say(fuzz.envelope());
    for (let n = 0; n < 100; n++, sent++) if (!talker.isClosed) talker.writeBytes(fuzz.frame());
    talker.drop();
  }
}

/** Many strangers dial a port, say something, and break off; returns how often they spoke. */
async function throwAt(port: number, times: number, bytes: () => Buffer): Promise<number> {
  const strangers = await Promise.all(Array.from({ length: STRANGERS }, () => dial(port)));
  for (const stranger of strangers) {
    for (let n = 0; n < times; n++) stranger.write(bytes());
    // What was written still leaves.
    stranger.end();
    stranger.resume();
  }
  await Promise.race([Promise.all(strangers.map(closed)), silence()]);
  for (const stranger of strangers) stranger.destroy();
  return STRANGERS * times;
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once('close', () => resolve());
  });
}

/** An answer is not required: after half a request, for instance, the hub waits. */
function silence(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 100);
  });
}

async function dial(port: number): Promise<Socket> {
  const socket = dialTcp(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** The address and token for uploads of a device, or another address when it has none. */
function uploadOf({ messages }: RawMqttDevice): { readonly path: string; readonly headers: readonly string[] } {
  const greeting = messages.map(requestIn).find((request) => request?.method === 'initialize');
  const { capabilities } = (greeting?.params ?? {}) as { capabilities?: { vision?: { url: string; token: string } } };
  if (capabilities?.vision === undefined) return { path: '/vision', headers: ['Authorization: Bearer x'] };
  const { url, token } = capabilities.vision;
  return { path: new URL(url).pathname, headers: [`Authorization: Bearer ${token}`] };
}
