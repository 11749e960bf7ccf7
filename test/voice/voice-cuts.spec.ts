/**
 * Conversations that either side cuts off at random moments leave nothing behind: no socket, UDP
 * channel, timer or entry.
 */
import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEchoServer, type EchoServer } from '../src/voice/echo-server.js';
import { eventually } from '../src/eventually.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { metric } from '../src/hub/metrics.js';
import { RawMqttDevice } from '../src/devices/raw-mqtt-device.js';
import { RawWebSocketDevice, webSocketHello } from '../src/devices/raw-websocket-device.js';

const isLong = process.env['FLOTILLA_TEST_LONG'] === '1';
const conversations = isLong ? 1_000 : 100;
const atATime = 25;
/** From before the hello reached the voice server to well into the conversation. */
const CUT_WITHIN_MS = 150;
/** Other timers of the hub come and go. */
const OTHER_TIMERS = 10;
/** The embedded PostgreSQL opens and closes connections at any time. */
const OTHER_FILES = 12;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const macOf = (index: number) =>
  `02:00:00:00:${(index >> 8).toString(16).padStart(2, '0')}:${(index & 0xff).toString(16).padStart(2, '0')}`;

let hub: HubProcess;
let echo: EchoServer;

/** Active resources of the hub's event loop, by kind. */
const active = (type: string) => metric(hub, 'flotilla_nodejs_active_resources', `type="${type}"`);
const openFiles = () => readdirSync(`/proc/${hub.pid}/fd`).length;

async function cutOff(index: number): Promise<void> {
  const device =
    index % 2 === 0 ? await RawWebSocketDevice.dial(hub, macOf(index)) : await RawMqttDevice.connect(hub, macOf(index));
  device.answer = () => undefined;
  device.say(
    device instanceof RawMqttDevice
      ? JSON.stringify({ ...(JSON.parse(webSocketHello) as object), version: 3, transport: 'udp' })
      : webSocketHello,
  );
  if (device instanceof RawWebSocketDevice)
    for (let n = 0; n < 5; n += 1) device.socket.send(Buffer.from([0xf8, 0xff, 0xfe]));
  // Every other one is cut during the conversation, the others at any moment.
  if (index % 4 < 2)
    await eventually(
      () => device.messages.length,
      (count) => count > 0,
      5_000,
    );
  await pause(Math.random() * CUT_WITHIN_MS);
  const [socket] = echo.sockets;
  if (index % 3 === 0 && socket !== undefined) {
    socket.terminate();
    await pause(20);
  }
  device.drop();
}

describe('conversations that are cut off', () => {
  beforeAll(async () => {
    echo = await openEchoServer();
    hub = await startHub({ env: { FLOTILLA_VOICE_URL: echo.url } });
  });
  afterAll(async () => {
    await echo.close();
    expect(await hub.stop()).toBe(0);
    expect(hub.log()).not.toMatch(/unhandled|callback_threw/i);
    removeDataDir(hub.dataDir);
  });

  it(`leave nothing behind, ${conversations} of them`, async () => {
    await cutOff(0);
    await eventually(
      () => metric(hub, 'flotilla_conversations'),
      (open) => open === 0,
      10_000,
    );
    const before = openFiles();
    const timersBefore = await active('Timeout');
    for (let from = 1; from <= conversations; from += atATime)
      await Promise.all(Array.from({ length: atATime }, (_unused, offset) => cutOff(from + offset)));
    await eventually(
      () => metric(hub, 'flotilla_conversations'),
      (open) => open === 0,
      10_000,
    );
    await eventually(
      () => echo.sockets.size,
      (open) => open === 0,
      10_000,
    );
    await eventually(openFiles, (open) => open <= before + OTHER_FILES, 15_000);
    expect(await metric(hub, 'flotilla_udp_channels')).toBe(0);
    await eventually(
      () => active('Timeout'),
      (timers) => timers <= timersBefore + OTHER_TIMERS,
      15_000,
    );
    const started = await metric(hub, 'flotilla_gateway_events_total', 'name="voice_started"');
    expect(started).toBeGreaterThan(conversations / 10);
  });
});
