/** Random bytes and messages at every listener and inside sessions: afterwards the hub is as before, and a normal device works. */
import { once } from 'node:events';
import { connect as dialTcp } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool, deviceThat, isOnline, viewDevice } from './src/device-api.js';
import { eventually } from './src/eventually.js';
import { FuzzSource } from './src/fuzz-source.js';
import { removeDataDir, startHub, type HubProcess } from './src/hub-process.js';
import { metric } from './src/metrics.js';
import { RawMqttDevice } from './src/raw-mqtt-device.js';
import { RawWebSocketDevice, webSocketHello } from './src/raw-websocket-device.js';

const isLong = process.env['FLOTILLA_TEST_LONG'] === '1';
const FUZZ_INPUTS = isLong ? 200_000 : 20_000;
/**
 * Memory by which the second half of the inputs may leave the hub larger, bytes: noise of the garbage collector. The first half lets the young generation
 * and the caches grow to their size, which is no leak.
 */
const LEFT_BYTES_MAX = 128 * 1024 * 1024;

const victimMac = '02:00:00:00:09:99';
const mac = '02:00:00:00:09:01';
const otherMac = '02:00:00:00:09:02';

describe('a hub that is sent noise', () => {
  let hub: HubProcess;
  /** A normal device that is connected all the time. */
  let victim: RawMqttDevice;

  beforeAll(async () => {
    hub = await startHub();
    victim = await RawMqttDevice.connect(hub, victimMac);
    await deviceThat(hub, victimMac, isOnline);
  });
  afterAll(async () => {
    victim.drop();
    expect(await hub.stop()).toBe(0);
    removeDataDir(hub.dataDir);
  });

  it(`survives ${FUZZ_INPUTS} random inputs of every kind without a trace`, async () => {
    await eventually(
      () => metric(hub, 'flotilla_sessions'),
      (count) => count === 1,
    );
    const fuzz = new FuzzSource(Number(process.env['FLOTILLA_TEST_SEED'] ?? 1));
    await sendNoise(hub, fuzz, FUZZ_INPUTS / 2);
    const before = await metric(hub, 'flotilla_process_resident_memory_bytes');
    await sendNoise(hub, fuzz, FUZZ_INPUTS / 2);
    await eventually(
      () => metric(hub, 'flotilla_sessions'),
      (count) => count === 1,
    );
    expect(await metric(hub, 'flotilla_unproven_connections')).toBe(0);
    expect((await metric(hub, 'flotilla_process_resident_memory_bytes')) - before).toBeLessThan(LEFT_BYTES_MAX);
    expect(victim.isClosed).toBe(false);
    expect(await callTool(hub, { deviceId: victimMac, tool: 'self.lamp.turn_on' })).toMatchObject({ outcome: 'SUCCEEDED' });
    expect((await viewDevice(hub, victimMac))?.sessions).toHaveLength(1);
    expect(hub.log()).not.toMatch(/unhandled|callback_threw|the broker failed/i);
  });
});

/** Sends `count` inputs: bytes at the front door, messages of devices that were let in, frames on upgraded connections. */
async function sendNoise(hub: HubProcess, fuzz: FuzzSource, count: number): Promise<void> {
  let sent = 0;
  while (sent < count) {
    // Bytes at the front door, a hundred connections at a time.
    const strangers = await Promise.all(Array.from({ length: 50 }, () => dial(hub.mqttPort)));
    for (const stranger of strangers) for (let n = 0; n < 4; n++, sent++) stranger.write(fuzz.mqttBytes());
    for (const stranger of strangers) stranger.destroy();
    // Messages of devices that were let in, and frames on upgraded connections.
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

async function dial(port: number) {
  const socket = dialTcp(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}
