/**
 * Hostile input at every listener: no connection without credentials is admitted, and no input ends
 * the hub or harms another device.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { callTool, deviceThat, eventsOf, isOnline, viewDevice } from '../src/devices/device-api.js';
import { clientIdOf, mqttLogin, someUuid, webSocketHeaders } from '../src/devices/device-credentials.js';
import { eventually } from '../src/eventually.js';
import { notification } from '../src/devices/firmware.js';
import { handshake, statusOf } from '../src/api/http-status.js';
import type { HubProcess } from '../src/hub/hub-process.js';
import { startHubUnderFire, victimMac, type HubUnderFire } from '../src/fuzz/hub-under-fire.js';
import { metric } from '../src/hub/metrics.js';
import { RawMqttDevice } from '../src/devices/raw-mqtt-device.js';
import { RawWebSocketDevice } from '../src/devices/raw-websocket-device.js';

const mac = '02:00:00:00:09:01';
const otherMac = '02:00:00:00:09:02';

describe('hostile devices', () => {
  let hub: HubProcess;
  let victim: RawMqttDevice;
  let fire: HubUnderFire;

  beforeAll(async () => {
    fire = await startHubUnderFire();
    ({ hub, victim } = fire);
  });
  afterAll(() => fire.stop());

  const counted = (name: string) => metric(hub, 'flotilla_gateway_events_total', `name="${name}"`);

  const expectUnharmed = () => fire.expectUnharmed();

  describe('at the MQTT port', () => {
    const clientId = clientIdOf(mac);
    const refusals: readonly (readonly [string, () => Parameters<RawMqttDevice['hello']>[0], number])[] = [
      ['no credentials', () => ({ clientId }), 5],
      ['a user name alone', () => ({ clientId, username: 'x' }), 5],
      ['an empty password', () => ({ clientId, username: 'x', password: Buffer.alloc(0) }), 5],
      ['a wrong password', () => ({ clientId, ...mqttLogin('another secret', clientId) }), 4],
      [
        'the credentials of another device',
        () => ({ clientId, ...mqttLogin(hub.deviceSecret, clientIdOf(otherMac)) }),
        4,
      ],
      ['a password that is not text', () => ({ clientId, username: 'x', password: Buffer.from([0, 0xff, 0xfe]) }), 4],
      ['a two-part client id without credentials', () => ({ clientId: 'GID_x@@@02_00_00_00_09_01' }), 5],
      ['a bare MAC as client id', () => ({ clientId: mac, ...mqttLogin(hub.deviceSecret, mac) }), 2],
      [
        'a control character in the client id',
        () => ({ clientId: 'a\u0007b', ...mqttLogin(hub.deviceSecret, 'a\u0007b') }),
        2,
      ],
      ['an empty client id', () => ({ clientId: '', clean: true, ...mqttLogin(hub.deviceSecret, '') }), 2],
    ];

    it.each(['tcp', 'websocket'] as const)(
      'over %s admits no device with wrong credentials, and reports it first',
      async (over) => {
        for (const [what, hello, code] of refusals) {
          const stranger = await RawMqttDevice.dial(hub, over);
          stranger.hello(hello());
          expect(await stranger.connack(), what).toBe(code);
          await stranger.closed();
          expect(stranger.packets, what).toHaveLength(1);
        }
        expect(await viewDevice(hub, mac)).toBeNull();
        await expectUnharmed();
      },
    );

    it('rejects MQTT 5 with code 1 and accepts MQTT 3.1', async () => {
      const modern = await RawMqttDevice.dial(hub);
      // CONNECT of version 5 with no properties and the client id "a".
      modern.stream.write(Buffer.from([0x10, 0x0e, 0, 4, 0x4d, 0x51, 0x54, 0x54, 5, 2, 0, 60, 0, 0, 1, 0x61]));
      expect(await modern.connack()).toBe(1);
      await modern.closed();
      const old = await RawMqttDevice.dial(hub);
      old.hello({
        clientId: clientIdOf(otherMac),
        protocolId: 'MQIsdp',
        protocolVersion: 3,
        ...mqttLogin(hub.deviceSecret, clientIdOf(otherMac)),
      });
      expect(await old.connack()).toBe(0);
      await deviceThat(hub, otherMac, isOnline);
      old.drop();
    });

    it.each([
      ['a first packet that claims 256 MB', Buffer.from([0x10, 0xff, 0xff, 0xff, 0x7f]), 'guard_cut_packet_too_large'],
      ['a CONNECT of one byte more than 4 KiB', Buffer.from([0x10, 0xfe, 0x1f]), 'guard_cut_packet_too_large'],
      ['a length that does not end', Buffer.from([0x10, 0x80, 0x80, 0x80, 0x80, 0x01]), 'guard_cut_malformed_length'],
      ['a PUBLISH before CONNECT', Buffer.from([0x30, 3, 0, 1, 0x61]), 'guard_cut_connect_expected'],
      ['an HTTP request', Buffer.from('GET / HTTP/1.1\r\nHost: hub\r\n\r\n'), 'guard_cut_connect_expected'],
      ['a TLS handshake', Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]), 'guard_cut_connect_expected'],
    ])('closes the connection after %s, without an answer', async (_what, bytes, counter) => {
      const before = await counted(counter);
      const stranger = await RawMqttDevice.dial(hub);
      stranger.stream.write(bytes);
      await stranger.closed();
      expect(stranger.packets).toEqual([]);
      expect(await counted(counter)).toBe(before + 1);
    });

    it('closes the connection after a message of one byte more than 64 KiB, and accepts one of 64 KiB', async () => {
      const device = await RawMqttDevice.connect(hub, mac);
      await deviceThat(hub, mac, isOnline);
      // Header 4 bytes, topic 2 + 1.
      const fits = Buffer.alloc(64 * 1024 - 4 - 3, 0x20);
      device.write({ cmd: 'publish', topic: 't', payload: fits, qos: 0, dup: false, retain: false });
      expect(await callTool(hub, { deviceId: mac, tool: 'self.lamp.turn_on' })).toMatchObject({ outcome: 'SUCCEEDED' });
      device.write({
        cmd: 'publish',
        topic: 't',
        payload: Buffer.alloc(fits.length + 1, 0x20),
        qos: 0,
        dup: false,
        retain: false,
      });
      await device.closed();
      await deviceThat(
        hub,
        mac,
        (view) => view.presence === 'OFFLINE' && view.sessions[0]?.closeReason === 'protocol_error',
      );
    });

    it('ends a connection that sends CONNECT twice', async () => {
      const device = await RawMqttDevice.connect(hub, mac);
      device.hello({ clientId, ...mqttLogin(hub.deviceSecret, clientId) });
      await device.closed();
      await deviceThat(hub, mac, (view) => view.sessions[0]?.closeReason === 'protocol_error');
    });

    it('gives a CONNECT ten seconds, regardless of its speed', async () => {
      const stranger = await RawMqttDevice.dial(hub);
      const bytes = Buffer.from([0x10, 0x50, 0, 4, 0x4d, 0x51, 0x54, 0x54, 4, 0xc2, 0, 60, 0, 60]);
      let at = 0;
      const drip = setInterval(() => stranger.stream.write(bytes.subarray(at, ++at)), 500);
      await stranger.closed(15_000);
      clearInterval(drip);
      expect(await metric(hub, 'flotilla_unproven_connections')).toBe(0);
    });

    it('passes no message to another client: by subscription, topic, will, retain or QoS', async () => {
      const device = await RawMqttDevice.dial(hub);
      const will = {
        topic: `devices/p2p/${victimMac.replaceAll(':', '_')}`,
        payload: Buffer.from('{"type":"system","command":"reboot"}'),
        qos: 0,
        retain: true,
      } as const;
      device.hello({ clientId, ...mqttLogin(hub.deviceSecret, clientId), clean: false, will });
      expect(await device.connack()).toBe(0);
      await deviceThat(hub, mac, isOnline);
      const topics = ['#', '+', '$SYS/#', 'devices/p2p/#', 'device-server', will.topic];
      device.write({
        cmd: 'subscribe',
        messageId: 1,
        subscriptions: topics.map((topic) => ({ topic, qos: 0 as const })),
      });
      const answered = () => device.packets.find((packet) => packet.cmd === 'suback');
      const suback = await eventually(answered, (packet) => packet !== undefined);
      expect(suback?.cmd === 'suback' ? suback.granted : []).toEqual(topics.map(() => 128));
      const heardBefore = victim.messages.length;
      for (const topic of [will.topic, '$SYS/broker', 'device-server', 'a/b/c'])
        for (const qos of [0, 1, 2] as const)
          device.write({
            cmd: 'publish',
            topic,
            payload: '{"type":"alert"}',
            qos,
            dup: false,
            retain: true,
            ...(qos > 0 && { messageId: 10 + qos }),
          });
      expect(await callTool(hub, { deviceId: mac, tool: 'self.lamp.turn_on' })).toMatchObject({
        outcome: expect.stringMatching(/SUCCEEDED|UNKNOWN|NOT_SENT/),
      });
      device.drop();
      await deviceThat(hub, mac, ({ presence }) => presence === 'OFFLINE');
      await expectUnharmed();
      // The victim received only the one call of `expectUnharmed`.
      expect(victim.messages.length).toBe(heardBefore + 1);
    });
  });

  describe('at the WebSocket port', () => {
    const upgrade = (headers: Readonly<Record<string, string>>, path = '/xiaozhi/v1/') =>
      statusOf(hub, { path, headers: { ...handshake, ...headers } });

    it('admits no device with wrong credentials, and reports it before the upgrade', async () => {
      const good = webSocketHeaders(hub.deviceSecret, mac);
      const day = 24 * 60 * 60 * 1000;
      const refusals: readonly (readonly [string, Readonly<Record<string, string>>, number])[] = [
        ['no token', { ...good, authorization: '' }, 401],
        ['a token of an unknown form', { ...good, authorization: 'Bearer nonsense' }, 401],
        ['a token under another secret', webSocketHeaders('another secret', mac), 401],
        ["another device's token", { ...webSocketHeaders(hub.deviceSecret, otherMac), 'device-id': mac }, 401],
        ["another client's token", { ...good, 'client-id': `${someUuid}x` }, 401],
        ['an expired token', webSocketHeaders(hub.deviceSecret, mac, Date.now() - 31 * day), 401],
        ['a token from the future', webSocketHeaders(hub.deviceSecret, mac, Date.now() + day), 401],
        ['a device id that is not a MAC', { ...good, 'device-id': 'lamp' }, 400],
        ['no client id', { ...good, 'client-id': '' }, 400],
        ['an unknown framing version', { ...good, 'protocol-version': '9' }, 400],
      ];
      for (const [what, headers, status] of refusals) expect(await upgrade(headers), what).toBe(status);
      expect(await upgrade(good)).toBe(101);
      await expectUnharmed();
    });

    it('answers wrong paths and wrong upgrades with a status', async () => {
      const good = webSocketHeaders(hub.deviceSecret, mac);
      for (const path of ['/', '/xiaozhi', '/xiaozhi/v2/', '//xiaozhi/v1/', '/%'])
        expect(await upgrade(good, path), path).toBe(404);
      expect(await upgrade({ ...good, 'sec-websocket-version': '99' })).toBe(400);
      expect(await upgrade({ ...good, 'sec-websocket-key': 'short' })).toBe(400);
      expect(await upgrade({ 'sec-websocket-protocol': 'graphql' }, '/mqtt')).toBe(400);
      expect(await upgrade({ ...good, upgrade: 'h2c' })).toBeGreaterThanOrEqual(400);
      await expectUnharmed();
    });

    it('accepts a fragmented message up to 64 KiB, and ends the session of a larger one', async () => {
      const device = await RawWebSocketDevice.connect(hub, mac);
      await deviceThat(hub, mac, isOnline);
      const text = notification('notifications/pieces', { n: 7 });
      for (let at = 0; at < text.length; at++) device.socket.send(text[at] ?? '', { fin: at === text.length - 1 });
      await eventually(
        () => eventsOf(hub, mac, 'device.notification'),
        (events) => events.some(({ method }) => method === 'notifications/pieces'),
      );
      for (let piece = 0; piece < 70; piece++)
        if (device.socket.readyState === WebSocket.OPEN) device.socket.send(' '.repeat(1024), { fin: false });
      await device.closed();
      await deviceThat(hub, mac, (view) => view.sessions[0]?.closeReason === 'protocol_error');
    });

    it.each([
      ['a frame without a mask', Buffer.from([0x81, 0x02, 0x7b, 0x7d])],
      ['reserved bits', Buffer.from([0xf1, 0x80, 0, 0, 0, 0])],
      ['an unknown opcode', Buffer.from([0x83, 0x80, 0, 0, 0, 0])],
      [
        'a frame that claims exabytes',
        Buffer.from([0x81, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]),
      ],
      ['a ping in fragments', Buffer.from([0x09, 0x80, 0, 0, 0, 0])],
    ])('ends the connection that sends %s', async (_what, frame) => {
      const device = await RawWebSocketDevice.connect(hub, mac);
      await deviceThat(hub, mac, isOnline);
      device.writeBytes(frame);
      await device.closed();
      await deviceThat(hub, mac, ({ presence }) => presence === 'OFFLINE');
    });
  });
});
