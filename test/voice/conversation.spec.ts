/**
 * Conversations on a hub without a voice service: devices get a valid answer and a goodbye at once,
 * and accept calls throughout.
 */
import { createSocket } from 'node:dgram';
import { isIPv4 } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { callTool, deviceThat, eventsOf, isOnline, viewDevice } from '../src/devices/device-api.js';
import { eventually } from '../src/eventually.js';
import { answerAsFirmware } from '../src/devices/firmware.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { metric } from '../src/hub/metrics.js';
import { RawMqttDevice } from '../src/devices/raw-mqtt-device.js';
import { RawWebSocketDevice, webSocketHello } from '../src/devices/raw-websocket-device.js';

interface ServerMessage {
  readonly type: string;
  readonly transport?: unknown;
  readonly version?: unknown;
  readonly session_id?: unknown;
  readonly audio_params?: unknown;
  readonly udp?: {
    readonly server: string;
    readonly port: number;
    readonly key: string;
    readonly nonce: string;
    readonly encryption: string;
  };
  readonly status?: unknown;
  readonly message?: unknown;
  readonly emotion?: unknown;
}

const udpHello = {
  type: 'hello',
  version: 3,
  transport: 'udp',
  features: { mcp: true, glyph_push: true },
  text_font: { bundle: 'noto-v1', charset: 'common', size: 20, bpp: 4 },
  audio_params: { format: 'opus', sample_rate: 16_000, channels: 1, frame_duration: 60 },
};

/** Messages of the hub that are not MCP. */
function spoken({ messages }: { readonly messages: readonly string[] }): readonly ServerMessage[] {
  return messages.map((text) => JSON.parse(text) as ServerMessage).filter(({ type }) => type !== 'mcp');
}

function spokenOf(
  device: RawMqttDevice | RawWebSocketDevice,
  type: string,
  count = 1,
): Promise<readonly ServerMessage[]> {
  return eventually(
    () => spoken(device).filter((message) => message.type === type),
    (found) => found.length >= count,
    5_000,
  );
}

const lampOn = { tool: 'self.lamp.turn_on' };

describe('a conversation', () => {
  let hub: HubProcess;
  let device: RawMqttDevice | RawWebSocketDevice | undefined;

  beforeAll(async () => {
    hub = await startHub();
  });
  afterEach(() => device?.drop());
  afterAll(async () => {
    expect(await hub.stop()).toBe(0);
    expect(hub.log()).not.toMatch(/unhandled|callback_threw/i);
    removeDataDir(hub.dataDir);
  });

  describe('over MQTT', () => {
    const connect = async (mac: string) => {
      const connected = await RawMqttDevice.connect(hub, mac);
      device = connected;
      await deviceThat(hub, mac, isOnline);
      return connected;
    };

    it('is answered with an audio channel that the device accepts, and ended within seconds', async () => {
      const talking = await connect('02:00:00:00:04:01');
      const askedAt = Date.now();
      talking.say(JSON.stringify(udpHello));
      const [goodbye] = await spokenOf(talking, 'goodbye');
      expect(Date.now() - askedAt).toBeLessThan(5_000);
      const [hello, alert, ...rest] = spoken(talking);
      expect(rest).toEqual([goodbye]);
      // For each of these, a device would drop the answer and show an error. [xiaozhi §2.4]
      expect(hello).toMatchObject({ type: 'hello', transport: 'udp', version: 3 });
      expect(isIPv4(hello?.udp?.server ?? '')).toBe(true);
      expect(hello?.udp?.port).toSatisfy((port: number) => Number.isInteger(port) && port >= 1 && port <= 65_535);
      expect(hello?.udp?.key).toMatch(/^[0-9a-f]{32}$/);
      expect(hello?.udp?.nonce).toMatch(/^01[0-9a-f]{30}$/);
      expect(hello?.session_id).toMatch(/^[A-Za-z0-9-]+$/);
      // All three are needed, or the alert is not shown. [xiaozhi §3.2]
      expect(alert).toMatchObject({
        type: 'alert',
        status: expect.any(String),
        message: expect.any(String),
        emotion: expect.any(String),
      });
      expect(goodbye?.session_id).toBe(hello?.session_id);
      expect(await viewDevice(hub, '02:00:00:00:04:01')).toMatchObject({
        presence: 'ONLINE',
        sessions: [{ disconnectedAt: null }],
      });
    });

    it('does not delay calls', async () => {
      const mac = '02:00:00:00:04:02';
      const talking = await connect(mac);
      talking.say(JSON.stringify(udpHello));
      const calls = await Promise.all(Array.from({ length: 5 }, () => callTool(hub, { deviceId: mac, ...lampOn })));
      expect(calls.map(({ outcome }) => outcome)).toEqual(Array(5).fill('SUCCEEDED'));
      talking.say(JSON.stringify({ session_id: 'stale', type: 'listen', state: 'start', mode: 'auto' }));
      talking.say(JSON.stringify({ session_id: 'stale', type: 'abort', reason: 'wake_word_detected' }));
      expect(await callTool(hub, { deviceId: mac, ...lampOn })).toMatchObject({ outcome: 'SUCCEEDED' });
    });

    it('begins before the hub has greeted the device, and the device still becomes ready', async () => {
      const mac = '02:00:00:00:04:03';
      const held: string[] = [];
      // A device answers nothing until its hello is answered. [xiaozhi §2.4]
      const hold = (text: string) => void held.push(text);
      const talking = await RawMqttDevice.connect(hub, mac, { answer: hold });
      device = talking;
      await eventually(
        () => held.length,
        (count) => count > 0,
      );
      talking.say(JSON.stringify(udpHello));
      await spokenOf(talking, 'hello');
      talking.answer = (text) => answerAsFirmware(text);
      for (const text of held) {
        const reply = answerAsFirmware(text);
        if (reply !== undefined) talking.say(reply);
      }
      await deviceThat(hub, mac, isOnline, 5_000);
    });

    it('that is opened twice gets a channel each time, with new keys, and the session stays', async () => {
      const mac = '02:00:00:00:04:04';
      const talking = await connect(mac);
      talking.say(JSON.stringify(udpHello));
      await spokenOf(talking, 'hello');
      talking.say(JSON.stringify(udpHello));
      const hellos = await spokenOf(talking, 'hello', 2);
      expect(new Set(hellos.map(({ session_id: id }) => id)).size).toBe(2);
      expect(new Set(hellos.map(({ udp }) => udp?.key)).size).toBe(2);
      // Only the present conversation is ended; the former one was replaced.
      const [goodbye] = await spokenOf(talking, 'goodbye');
      expect(goodbye?.session_id).toBe(hellos[1]?.session_id);
      expect(await callTool(hub, { deviceId: mac, ...lampOn })).toMatchObject({ outcome: 'SUCCEEDED' });
      expect((await viewDevice(hub, mac))?.sessions).toHaveLength(1);
    });

    it('that the device ends first gets no further message', async () => {
      const mac = '02:00:00:00:04:05';
      const talking = await connect(mac);
      talking.say(JSON.stringify(udpHello));
      const [hello] = await spokenOf(talking, 'hello');
      talking.say(JSON.stringify({ session_id: hello?.session_id, type: 'goodbye' }));
      talking.say(JSON.stringify({ session_id: 'never-was', type: 'goodbye' }));
      // Longer than the farewell: a second conversation goes through all of it.
      talking.say(JSON.stringify(udpHello));
      await spokenOf(talking, 'goodbye');
      expect(spoken(talking).map(({ type }) => type)).toEqual(['hello', 'hello', 'alert', 'goodbye']);
    });

    it.each([
      ['without transport', { ...udpHello, transport: undefined }],
      ['with an unknown transport', { ...udpHello, transport: 5 }],
      ['of an unknown version', { ...udpHello, version: 9 }],
    ])('is not opened by a hello %s, which has no effect', async (what, hello) => {
      const mac = `02:00:00:00:05:${String(what.length).padStart(2, '0')}`;
      const talking = await connect(mac);
      const before = await metric(hub, 'flotilla_gateway_events_total', 'name="anomaly_hello_invalid"');
      talking.say(JSON.stringify(hello));
      expect(await callTool(hub, { deviceId: mac, ...lampOn })).toMatchObject({ outcome: 'SUCCEEDED' });
      expect(await metric(hub, 'flotilla_gateway_events_total', 'name="anomaly_hello_invalid"')).toBe(before + 1);
      expect(spoken(talking)).toEqual([]);
    });

    it('has a real UDP port, which receives datagrams of any kind and drops them', async () => {
      const mac = '02:00:00:00:04:06';
      const talking = await connect(mac);
      talking.say(JSON.stringify(udpHello));
      const [hello] = await spokenOf(talking, 'hello');
      const { server = '', port = 0 } = hello?.udp ?? {};
      const before = await metric(hub, 'flotilla_gateway_events_total', 'name="udp_packets_dropped"');
      const socket = createSocket('udp4');
      const datagrams = [
        Buffer.alloc(0),
        Buffer.from([1]),
        Buffer.alloc(16, 1),
        Buffer.alloc(1_400, 0xff),
        Buffer.alloc(60_000),
      ];
      for (const datagram of datagrams) await new Promise((resolve) => socket.send(datagram, port, server, resolve));
      await eventually(
        () => metric(hub, 'flotilla_gateway_events_total', 'name="udp_packets_dropped"'),
        (count) => count === before + datagrams.length,
      );
      socket.close();
      expect(await callTool(hub, { deviceId: mac, ...lampOn })).toMatchObject({ outcome: 'SUCCEEDED' });
    });
  });

  describe('over WebSocket', () => {
    const connect = async (mac: string) => {
      const connected = await RawWebSocketDevice.connect(hub, mac);
      device = connected;
      await deviceThat(hub, mac, isOnline);
      return connected;
    };

    it('begins with a hello that is answered before any other message', async () => {
      const talking = await connect('02:00:00:00:06:01');
      expect(JSON.parse(talking.messages[0] ?? '')).toMatchObject({
        type: 'hello',
        transport: 'websocket',
        session_id: expect.stringMatching(/^[A-Za-z0-9-]+$/),
      });
      expect(talking.messages.slice(1).every((text) => text.includes('"type":"mcp"'))).toBe(true);
    });

    it('drops audio and continues', async () => {
      const mac = '02:00:00:00:06:02';
      const talking = await connect(mac);
      for (const bytes of [0, 1, 3, 4, 16, 400, 60_000]) talking.socket.send(Buffer.alloc(bytes, 0x7b));
      expect(await callTool(hub, { deviceId: mac, ...lampOn })).toMatchObject({ outcome: 'SUCCEEDED' });
      expect((await viewDevice(hub, mac))?.sessions).toHaveLength(1);
    });

    it('accepts audio before the hello, and does not mistake it for one', async () => {
      const mac = '02:00:00:00:06:03';
      const talking = await RawWebSocketDevice.dial(hub, mac);
      device = talking;
      talking.socket.send(Buffer.from(webSocketHello));
      talking.say(JSON.stringify({ ...(JSON.parse(webSocketHello) as object), transport: undefined }));
      talking.say('{"type":"listen","state":"start"}');
      expect(talking.messages).toEqual([]);
      talking.say(webSocketHello);
      await deviceThat(hub, mac, isOnline);
      expect(spoken(talking)).toHaveLength(1);
    });

    it('answers a repeated hello with the same session id', async () => {
      const mac = '02:00:00:00:06:04';
      const talking = await connect(mac);
      talking.say(webSocketHello);
      const hellos = await spokenOf(talking, 'hello', 2);
      expect(hellos[1]).toEqual(hellos[0]);
      expect(await callTool(hub, { deviceId: mac, ...lampOn })).toMatchObject({ outcome: 'SUCCEEDED' });
    });

    it.each([
      ['breaks off', 'connection_lost', (talking: RawWebSocketDevice) => talking.drop()],
      ['is closed by the device', 'device_closed', (talking: RawWebSocketDevice) => talking.socket.close(1000)],
      [
        'ends with an invalid frame',
        'protocol_error',
        (talking: RawWebSocketDevice) => talking.socket.send(Buffer.alloc(70_000)),
      ],
    ])('that %s is recorded as %s', async (what, reason, end) => {
      const mac = `02:00:00:00:07:${String(what.length).padStart(2, '0')}`;
      const talking = await connect(mac);
      end(talking);
      await deviceThat(hub, mac, (view) => view.presence === 'OFFLINE' && view.sessions[0]?.closeReason === reason);
      const events = await eventually(
        () => eventsOf(hub, mac, 'device.disconnected'),
        (found) => found.length > 0,
      );
      expect(events).toMatchObject([{ reason }]);
      expect(await callTool(hub, { deviceId: mac, ...lampOn })).toMatchObject({
        outcome: 'NOT_SENT',
        error: { code: 'DEVICE_OFFLINE' },
      });
    });

    it('ends for a device that never sends hello', async () => {
      const talking = await RawWebSocketDevice.dial(hub, '02:00:00:00:06:05');
      device = talking;
      await talking.closed(15_000);
      expect(await viewDevice(hub, '02:00:00:00:06:05')).toBeNull();
    });
  });
});
