import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { CloseReason } from '@flotilla/mcp';
import mqtt from 'mqtt-packet';
import { describeTransport } from '@flotilla/mcp/transport.suite';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { doorOptions } from '../door.suite.js';
import { FleetSecretAuth } from '../auth/fleet-secret-auth.js';
import type { GatewayLimits } from '../gateway-limits.js';
import { MqttDevice, xiaozhiClientId } from './mqtt-device.suite.js';
import { MqttIngress } from './mqtt-ingress.js';
import type { MqttIngressOptions } from './mqtt-ingress.js';
import { peerOf } from '../sessions/session-host.js';
import type { Arrival } from '../sessions/session-host.js';

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function openDoor({
  limits,
  ...change
}: Partial<Omit<MqttIngressOptions, 'limits'>> & { limits?: Partial<GatewayLimits> } = {}) {
  const defaults = doorOptions();
  const options = { ...defaults, ...change, limits: { ...defaults.limits, ...limits } };
  const ingress = new MqttIngress(options);
  await ingress.start();
  const server = createServer((socket) => ingress.accept(socket, peerOf(socket)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(async () => {
    await ingress.stop();
    await new Promise((resolve) => server.close(resolve));
  });
  const dial = () => MqttDevice.dial((server.address() as AddressInfo).port);
  return {
    dial,
    host: defaults.host,
    lobby: options.lobby,
    count: (name: string) => countOf(options.counters.list(), name),
  };
}

function countOf(counts: readonly { readonly name: string; readonly count: number }[], name: string): number {
  return counts.find((count) => count.name === name)?.count ?? 0;
}

function listen({ transport }: Arrival) {
  const heard = { messages: [] as string[], closes: [] as CloseReason[] };
  transport.onmessage = (text) => heard.messages.push(text);
  transport.onclose = (reason) => heard.closes.push(reason);
  transport.start();
  return heard;
}

/** A device that was let in. */
async function enter(door: Awaited<ReturnType<typeof openDoor>>, change: Parameters<MqttDevice['connect']>[0] = {}) {
  const device = await door.dial();
  device.connect(change);
  const arrival = await door.host.arrival(door.host.arrivals.length + 1);
  return { device, arrival, heard: listen(arrival) };
}

describeTransport('the MQTT transport', async () => {
  const door = await openDoor();
  const device = await door.dial();
  device.connect();
  const { transport } = await door.host.arrival();
  const far = {
    send: (text: string) => device.publish(text),
    close: () => device.conn.destroy(),
    get received() {
      return device.messages;
    },
  };
  return { near: transport, far };
});

describe('MqttIngress lets devices in', () => {
  it.each([
    ['3.1.1', { protocolVersion: 4, protocolId: 'MQTT' } as const],
    ['3.1', { protocolVersion: 3, protocolId: 'MQIsdp' } as const],
  ])('speaks MQTT %s', async (_version, change) => {
    const door = await openDoor();
    const { device, arrival } = await enter(door, change);
    expect(await device.connack()).toBe(0);
    expect(arrival).toMatchObject({
      deviceId: '02:5e:7a:10:c4:9f',
      kind: 'MQTT',
      remoteAddress: '127.0.0.1',
      localAddress: '127.0.0.1',
    });
    expect(door.lobby.size).toBe(0);
  });

  it('pushes to a device that never subscribed, on its own topic, with CONNACK first', async () => {
    const { device, arrival } = await enter(await openDoor());
    arrival.transport.send('{"a":1}');
    const publish = await device.packet('publish');
    expect(publish).toMatchObject({ topic: 'devices/p2p/02_5e_7a_10_c4_9f', qos: 0, retain: false });
    expect(device.packets[0]?.cmd).toBe('connack');
  });

  it('hears what comes in the same segment as CONNECT', async () => {
    const door = await openDoor();
    const device = await door.dial();
    door.host.admit = (arrival) => {
      door.host.arrivals.push(arrival);
      Object.assign(heard, listen(arrival));
    };
    const heard = { messages: [] as string[] };
    device.connect();
    device.publish('early');
    await vi.waitFor(() => expect(heard.messages).toEqual(['early']));
  });

  it('takes messages on the common topic and on the own one, whatever their retain flag or QoS', async () => {
    const { device, heard } = await enter(await openDoor());
    device.publish('one', 'devices/p2p/02_5e_7a_10_c4_9f');
    device.write({
      cmd: 'publish',
      topic: 'device-server',
      payload: 'two',
      qos: 1,
      messageId: 7,
      dup: false,
      retain: true,
    });
    await vi.waitFor(() => expect(new Set(heard.messages)).toEqual(new Set(['one', 'two'])));
    expect((await device.packet('puback')).messageId).toBe(7);
  });

  it('hears each message once and those of QoS 0 in their order, however the bytes are cut and whatever stands between', async () => {
    const { device, heard } = await enter(await openDoor());
    const isAcknowledged = (index: number) => index % 7 === 3;
    const texts = Array.from({ length: 60 }, (_, index) => `${index} ${'x'.repeat(index * 7)}`);
    const bytes = Buffer.concat(
      texts.flatMap((payload, index) => {
        const qos = isAcknowledged(index) ? ({ qos: 1, messageId: index } as const) : ({ qos: 0 } as const);
        const message = mqtt.generate({
          cmd: 'publish',
          topic: 'device-server',
          payload,
          ...qos,
          dup: false,
          retain: false,
        });
        return index % 11 === 5 ? [message, mqtt.generate({ cmd: 'pingreq' })] : [message];
      }),
    );
    for (let at = 0, size = 1; at < bytes.length; at += size, size = (size * 5 + 3) % 701) {
      device.writeBytes(bytes.subarray(at, at + size));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await vi.waitFor(() => expect(heard.messages).toHaveLength(texts.length));
    const plain = texts.filter((_, index) => !isAcknowledged(index));
    expect(heard.messages.filter((text) => plain.includes(text))).toEqual(plain);
    expect(new Set(heard.messages)).toEqual(new Set(texts));
    const answers = (cmd: string) => device.packets.filter((packet) => packet.cmd === cmd).length;
    await vi.waitFor(() => expect([answers('puback'), answers('pingresp')]).toEqual([9, 5]));
  });

  it('takes a message of QoS 2 once, however often it is sent', async () => {
    const { device, heard } = await enter(await openDoor());
    const message = {
      cmd: 'publish',
      topic: 'device-server',
      payload: 'once',
      qos: 2,
      messageId: 9,
      retain: false,
    } as const;
    device.write({ ...message, dup: false });
    await device.packet('pubrec');
    device.write({ ...message, dup: true });
    device.write({ cmd: 'pubrel', messageId: 9 });
    expect((await device.packet('pubcomp')).messageId).toBe(9);
    expect(heard.messages).toEqual(['once']);
  });

  it.each(['devices/p2p/02_5e_7a_10_c4_a0', '$SYS/broker', 'x', 'device-server/', 'DEVICE-SERVER'])(
    'drops and counts what is published on %s, and acknowledges it as the standard says',
    async (topic) => {
      const door = await openDoor();
      const { device, heard } = await enter(door);
      device.write({ cmd: 'publish', topic, payload: 'lost', qos: 1, messageId: 7, dup: false, retain: false });
      expect((await device.packet('puback')).messageId).toBe(7);
      device.publish('heard');
      await vi.waitFor(() => expect(heard.messages).toEqual(['heard']));
      expect(door.count('anomaly_topic_forbidden')).toBe(1);
    },
  );

  it('cuts a device that goes on publishing where it may not', async () => {
    const door = await openDoor({ limits: { forbiddenTopicsMax: 3 } });
    const { device, heard } = await enter(door);
    for (const text of ['a', 'b', 'c']) device.publish(text, 'x');
    await device.closed();
    await vi.waitFor(() => expect(heard.closes).toEqual(['protocol_error']));
    expect(door.count('anomaly_topic_abuse')).toBe(1);
    expect(heard.messages).toEqual([]);
  });

  it.each([
    ['a clean', 0x02],
    ['a kept', 0x00],
  ])('refuses an empty client id with %s session: there is no device to give it to', async (_session, flags) => {
    const device = await (await openDoor()).dial();
    device.writeBytes(Buffer.from([0x10, 12, 0, 4, ...Buffer.from('MQTT'), 4, flags, 0, 60, 0, 0]));
    expect(await device.connack()).toBe(2);
    await device.closed();
  });

  it('never passes a message on to another device', async () => {
    const door = await openDoor();
    const first = await enter(door);
    const second = await enter(door, { clientId: 'GID_lab@@@02_5e_7a_10_c4_a0@@@x' });
    second.device.write({
      cmd: 'subscribe',
      messageId: 1,
      subscriptions: [{ topic: 'devices/p2p/02_5e_7a_10_c4_a0', qos: 0 }],
    });
    await second.device.packet('suback');
    first.device.publish('for you', 'devices/p2p/02_5e_7a_10_c4_a0');
    first.device.publish('for the hub');
    await vi.waitFor(() => expect(first.heard.messages).toEqual(['for the hub']));
    second.device.write({ cmd: 'pingreq' });
    await second.device.packet('pingresp');
    expect(second.device.messages).toEqual([]);
  });

  it('grants a subscription to the own topic and to no other', async () => {
    const { device } = await enter(await openDoor());
    const topics = ['devices/p2p/02_5e_7a_10_c4_9f', 'devices/p2p/02_5e_7a_10_c4_a0', '#', '$SYS/#'];
    device.write({
      cmd: 'subscribe',
      messageId: 1,
      subscriptions: topics.map((topic) => ({ topic, qos: 0 as const })),
    });
    expect((await device.packet('suback')).granted).toEqual([0, 128, 128, 128]);
  });

  it('says why a connection ended', async () => {
    const door = await openDoor();
    const polite = await enter(door);
    polite.device.write({ cmd: 'disconnect' });
    await vi.waitFor(() => expect(polite.heard.closes).toEqual(['device_closed']));
    const lost = await enter(door);
    lost.device.conn.destroy();
    await vi.waitFor(() => expect(lost.heard.closes).toEqual(['connection_lost']));
  });

  it('cuts a device that stays silent for one and a half of its keep-alive', async () => {
    const { device, heard } = await enter(await openDoor(), { keepalive: 1 });
    await vi.waitFor(() => expect(heard.closes).toEqual(['connection_lost']), 4000);
    await device.closed();
  });

  it('keeps a device that says something within its keep-alive and never pings', async () => {
    const { device, heard } = await enter(await openDoor(), { keepalive: 1 });
    for (let count = 1; count <= 18; count++) {
      device.publish('still here');
      await vi.waitFor(() => expect(heard.messages).toHaveLength(count));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(heard.closes).toEqual([]);
  });

  it('ends the older connection of a client id before the newer one is admitted', async () => {
    const door = await openDoor();
    const older = await enter(door);
    door.host.supersede = () => older.arrival.transport.close('taken_over');
    const newer = await enter(door);
    await vi.waitFor(() => expect(older.heard.closes).toEqual(['taken_over']));
    await older.device.closed();
    expect(newer.arrival.transport.send('hello')).toBe(true);
  });

  it('accepts nothing for a device that does not drain', async () => {
    const { device, arrival } = await enter(await openDoor({ limits: { unsentBytesMax: 10_000 } }));
    device.conn.pause();
    const text = 'x'.repeat(100_000);
    let sent = 0;
    while (arrival.transport.send(text) && sent < 1000) sent += 1;
    expect(sent).toBeGreaterThan(0);
    expect(sent).toBeLessThan(1000);
  });
});

describe('MqttIngress keeps others out', () => {
  const auth = new FleetSecretAuth({ secret: 'Hub-Signing-Key-01', clock: { now: () => 0 } });
  const username = 'eyJpcCI6IjE5Mi4wLjIuNDQifQ==';
  const password = Buffer.from('cRoD84Ahoo4Yhs5g8896WnwsCSy3eIoPJg7Us/40gKQ=');

  it('accepts the right password before CONNACK', async () => {
    const { device } = await enter(await openDoor({ auth }), { username, password });
    expect(await device.connack()).toBe(0);
  });

  it.each([
    ['a wrong password', { username, password: Buffer.alloc(44, 'x') }, 4],
    ['no credentials', {}, 5],
    ['a two-part client id without credentials', { clientId: 'GID_lab@@@02_5e_7a_10_c4_9f' }, 5],
    ['an empty client id', { clientId: '' }, 2],
    ['a bare MAC', { clientId: '02:5e:7a:10:c4:9f', username, password }, 2],
    ['an endless client id', { clientId: 'x'.repeat(300), username, password }, 2],
    ['MQTT 5', { protocolVersion: 5 as const, username, password }, 1],
  ])('refuses %s with the return code that fits, and closes', async (_case, change, code) => {
    const door = await openDoor({ auth });
    const device = await door.dial();
    device.connect(change);
    expect(await device.connack()).toBe(code);
    await device.closed();
    expect(door.host.arrivals).toEqual([]);
    await vi.waitFor(() => expect(door.lobby.size).toBe(0));
  });

  it('refuses an empty client id with a session to keep', async () => {
    const door = await openDoor({ auth });
    const device = await door.dial();
    // CONNECT with all flags 0, in bytes: the packet library refuses to write it.
    device.writeBytes(Buffer.of(0x10, 12, 0, 4, ...Buffer.from('MQTT'), 4, 0, 0, 60, 0, 0));
    expect(await device.connack()).toBe(2);
    await device.closed();
  });

  it('answers "unavailable" when the credentials cannot be checked', async () => {
    const broken = {
      checkMqtt: () => Promise.reject(new Error('no database')),
      checkWebSocket: () => Promise.reject(new Error('no database')),
    };
    const door = await openDoor({ auth: broken });
    const device = await door.dial();
    device.connect();
    expect(await device.connack()).toBe(3);
    expect(door.count('refusal_auth_unavailable')).toBe(1);
  });

  it('answers "unavailable" when no further session fits', async () => {
    const door = await openDoor();
    door.host.isFull = true;
    const device = await door.dial();
    device.connect();
    expect(await device.connack()).toBe(3);
  });

  it('takes no more strangers at once than its bound, and more when they are gone', async () => {
    const door = await openDoor();
    const strangers = await Promise.all(Array.from({ length: 20 }, () => door.dial()));
    await vi.waitFor(() => expect(door.lobby.size).toBe(20));
    const last = await door.dial();
    await last.closed();
    expect(door.count('refusal_too_many_connections')).toBe(1);
    for (const stranger of strangers) stranger.conn.destroy();
    await vi.waitFor(() => expect(door.lobby.size).toBe(0));
    await enter(door);
  });

  it('cuts a connection that never sends CONNECT', async () => {
    const door = await openDoor({ limits: { introductionTimeoutMs: 50 } });
    const device = await door.dial();
    await device.closed();
    await vi.waitFor(() => expect(door.lobby.size).toBe(0));
  });

  it.each([
    ['garbage', Buffer.from('GET / HTTP/1.1\r\n\r\n'), 'guard_cut_connect_expected'],
    ['a header that claims 256 MB', Buffer.of(0x10, 0xff, 0xff, 0xff, 0x7f), 'guard_cut_packet_too_large'],
    ['an endless length', Buffer.of(0x10, 0x80, 0x80, 0x80, 0x80), 'guard_cut_malformed_length'],
  ])('cuts %s', async (_case, bytes, counter) => {
    const door = await openDoor();
    const device = await door.dial();
    device.writeBytes(bytes);
    await device.closed();
    expect(door.count(counter)).toBe(1);
    expect(door.host.arrivals).toEqual([]);
  });

  it.each([
    ['CONNECT a second time', (device: MqttDevice) => device.connect()],
    ['a message beyond 64 KiB', (device: MqttDevice) => device.publish('x'.repeat(65_536))],
    ['a wildcard in a topic', (device: MqttDevice) => device.publish('x', 'a/#')],
    ['bytes that are no packet', (device: MqttDevice) => device.writeBytes(Buffer.of(0x62, 0x00, 0xff, 0xff))],
  ])('cuts a device that sends %s, as a broken rule', async (_case, misbehave) => {
    const { device, heard } = await enter(await openDoor());
    misbehave(device);
    await device.closed();
    await vi.waitFor(() => expect(heard.closes).toEqual(['protocol_error']));
    expect(heard.messages).toEqual([]);
  });

  it('hands a will to the session, publishes none, and keeps nothing of a session', async () => {
    const door = await openDoor();
    const will = { topic: 'devices/p2p/02_5e_7a_10_c4_a0', payload: Buffer.from('boo'), qos: 0 as const, retain: true };
    const first = await enter(door, { clean: false, will });
    expect(first.arrival.will).toEqual({ topic: will.topic, payload: 'boo' });
    first.device.conn.destroy();
    await vi.waitFor(() => expect(first.heard.closes).toEqual(['connection_lost']));
    const again = await enter(door, { clean: false, clientId: xiaozhiClientId });
    expect((await again.device.packet('connack')).sessionPresent).toBe(false);
  });
});
