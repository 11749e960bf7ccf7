/**
 * Devices that are online only during a conversation: framing, waiting work, sockets that they
 * leave open, and the end of a session.
 */
import { request as httpRequest } from 'node:http';
import type { Duplex } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool, deviceThat, eventsOf, isOnline, viewDevice } from '../src/devices/device-api.js';
import { webSocketHeaders } from '../src/devices/device-credentials.js';
import { eventually } from '../src/eventually.js';
import { requestIn } from '../src/devices/firmware.js';
import { handshake } from '../src/api/http-status.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { finished, jobOf, readJob, targetsOf } from '../src/jobs/job-api.js';
import { RawWebSocketDevice, webSocketHello } from '../src/devices/raw-websocket-device.js';

const turnOn = 'self.lamp.turn_on';

describe('a device that connects over WebSocket', () => {
  let hub: HubProcess;

  beforeAll(async () => {
    hub = await startHub({ env: { FLOTILLA_DEVICE_AUTH: 'hmac' } });
  });
  afterAll(async () => {
    expect(await hub.stop()).toBe(0);
    expect(hub.log()).not.toMatch(/unhandled|callback_threw/i);
    removeDataDir(hub.dataDir);
  });

  const offline = (mac: string) => deviceThat(hub, mac, ({ presence }) => presence === 'OFFLINE');

  it.each(['1', '2', '3'])(
    'frames its audio as version %s, which is dropped, and accepts calls meanwhile',
    async (version) => {
      const mac = `02:00:00:00:0d:0${version}`;
      const device = await RawWebSocketDevice.dial(hub, mac, { 'protocol-version': version });
      device.say(webSocketHello.replace('"version":1', `"version":${version}`));
      await deviceThat(hub, mac, isOnline);
      const opus = Buffer.alloc(120, 0x7b);
      const header = {
        '1': Buffer.alloc(0),
        '2': Buffer.from('00020000000000000000000000000078', 'hex'),
        '3': Buffer.from('00000078', 'hex'),
      };
      const frame = Buffer.concat([header[version as '1' | '2' | '3'], opus]);
      device.say('{"session_id":"x","type":"listen","state":"start","mode":"auto"}');
      // Three seconds of speech, including a header without audio, and one with a wrong length.
      for (let n = 0; n < 50; n++) device.socket.send(frame);
      device.socket.send(frame.subarray(0, 3));
      device.socket.send(Buffer.concat([frame.subarray(0, 4), Buffer.from([0xff])]));
      expect(await callTool(hub, { deviceId: mac, tool: turnOn })).toMatchObject({ outcome: 'SUCCEEDED' });
      expect(await eventsOf(hub, mac, 'device.throttled')).toEqual([]);
      device.drop();
      await offline(mac);
    },
  );

  it('is called on the socket that it leaves open after a conversation, and again in the next one on it', async () => {
    const mac = '02:00:00:00:0d:10';
    const device = await RawWebSocketDevice.connect(hub, mac);
    await deviceThat(hub, mac, isOnline);
    for (let conversation = 0; conversation < 3; conversation++) {
      device.say('{"session_id":"x","type":"listen","state":"start","mode":"manual"}');
      device.say('{"session_id":"x","type":"listen","state":"stop"}');
      expect(await callTool(hub, { deviceId: mac, tool: turnOn })).toMatchObject({ outcome: 'SUCCEEDED' });
      device.say(webSocketHello);
    }
    expect((await viewDevice(hub, mac))?.sessions).toHaveLength(1);
    device.drop();
    await offline(mac);
  });

  it('receives waiting work once as soon as it connects, and what it did not receive keeps waiting', async () => {
    const mac = '02:00:00:00:0d:20';
    (
      await RawWebSocketDevice.connect(hub, mac).then(async (first) => {
        await deviceThat(hub, mac, isOnline);
        return first;
      })
    ).drop();
    await offline(mac);
    const input = { tool: turnOn, devices: { ids: [mac] } };
    const jobs = [await jobOf(hub, input, 'waits-1'), await jobOf(hub, input, 'waits-2')];
    for (const id of jobs)
      await eventually(
        () => readJob(hub, id),
        ({ progress }) => progress.waitingDevice === 1,
      );
    const device = await RawWebSocketDevice.connect(hub, mac);
    for (const id of jobs)
      expect(await finished(hub, id, 5_000)).toMatchObject({ conclusion: 'SUCCEEDED', progress: { succeeded: 1 } });
    const calls = device.messages.filter((text) => requestIn(text)?.method === 'tools/call');
    expect(calls).toHaveLength(2);
    for (const id of jobs) expect(await targetsOf(hub, id)).toMatchObject([{ outcome: 'SUCCEEDED', attempts: 1 }]);
    device.drop();
    await offline(mac);
    expect(await callTool(hub, { deviceId: mac, tool: turnOn })).toMatchObject({
      outcome: 'NOT_SENT',
      error: { code: 'DEVICE_OFFLINE' },
    });
  });

  it('receives a close frame when the hub ends its session, and is cut a second later without an answer', async () => {
    const mac = '02:00:00:00:0d:30';
    const { socket, heard } = await openDeafSocket(hub, mac);
    const ended = new Promise<number>((resolve) => socket.once('close', () => resolve(Date.now())));
    socket.write(textFrame(webSocketHello));
    await eventually(
      () => Buffer.concat(heard).toString('latin1'),
      (text) => text.includes('initialize'),
    );
    // It has abandoned that socket, as devices do after two minutes of silence, and opens another.
    const closedAt = Date.now();
    const second = await RawWebSocketDevice.connect(hub, mac);
    expect((await ended) - closedAt).toBeLessThan(10_000);
    // The last frame is a close frame, with code 1000.
    const bytes = Buffer.concat(heard);
    expect(bytes.subarray(bytes.lastIndexOf(0x88) + 2).readUInt16BE(0)).toBe(1000);
    await deviceThat(hub, mac, (view) => isOnline(view) && view.sessions[1]?.closeReason === 'taken_over');
    second.drop();
    await offline(mac);
  });
});

/** A device's end of an upgraded connection that answers neither pings nor close frames. */
function openDeafSocket(
  hub: HubProcess,
  mac: string,
): Promise<{ readonly socket: Duplex; readonly heard: readonly Buffer[] }> {
  return new Promise((resolve, reject) => {
    const asked = httpRequest(`${hub.httpUrl}/xiaozhi/v1/`, {
      headers: { ...handshake, ...webSocketHeaders(hub.deviceSecret, mac) },
    });
    asked.on('upgrade', (_response, socket, head) => {
      const heard: Buffer[] = [head];
      socket.on('data', (chunk: Buffer) => heard.push(chunk));
      socket.on('error', () => undefined);
      resolve({ socket, heard });
    });
    asked.on('error', reject);
    asked.end();
  });
}

/** A text frame with a mask of zeros. */
function textFrame(text: string): Buffer {
  const payload = Buffer.from(text);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(payload.length);
  return Buffer.concat([Buffer.from([0x81, 0x80 | 126]), length, Buffer.alloc(4), payload]);
}
