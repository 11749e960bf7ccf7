import { describeTransport } from '@flotilla/mcp/transport.suite';
import mqtt from 'mqtt-packet';
import { describe, expect, it, vi } from 'vitest';
import { listen } from '../ingress.suite.js';
import { enter, openIngress } from './mqtt-ingress.suite.js';

describeTransport('the MQTT transport', async () => {
  const ingress = await openIngress();
  const device = await ingress.dial();
  device.connect();
  const { transport } = await ingress.host.connection();
  const far = {
    send: (text: string) => device.publish(text),
    close: () => device.conn.destroy(),
    get received() {
      return device.messages;
    },
  };
  return { near: transport, far };
});

describe('MqttIngress admits devices', () => {
  it.each([
    ['3.1.1', { protocolVersion: 4, protocolId: 'MQTT' } as const],
    ['3.1', { protocolVersion: 3, protocolId: 'MQIsdp' } as const],
  ])('speaks MQTT %s', async (_version, change) => {
    const ingress = await openIngress();
    const { device, connection } = await enter(ingress, change);
    expect(await device.connack()).toBe(0);
    expect(connection).toMatchObject({
      deviceId: '02:5e:7a:10:c4:9f',
      kind: 'MQTT',
      remoteAddress: '127.0.0.1',
      localAddress: '127.0.0.1',
    });
    expect(ingress.lobby.size).toBe(0);
  });

  it('pushes to a device that never subscribed, on its own topic, with CONNACK first', async () => {
    const { device, connection } = await enter(await openIngress());
    connection.transport.send('{"a":1}');
    const publish = await device.packet('publish');
    expect(publish).toMatchObject({ topic: 'devices/p2p/02_5e_7a_10_c4_9f', qos: 0, retain: false });
    expect(device.packets[0]?.cmd).toBe('connack');
  });

  it('receives messages from the same segment as CONNECT', async () => {
    const ingress = await openIngress();
    const device = await ingress.dial();
    ingress.host.admit = (connection) => {
      ingress.host.connections.push(connection);
      Object.assign(heard, listen(connection));
    };
    const heard = { messages: [] as string[] };
    device.connect();
    device.publish('early');
    await vi.waitFor(() => expect(heard.messages).toEqual(['early']));
  });

  it('takes messages on the common topic and on the own one, with any retain flag and QoS', async () => {
    const { device, heard } = await enter(await openIngress());
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

  it('receives each message once and those of QoS 0 in order, regardless of chunks and other packets', async () => {
    const { device, heard } = await enter(await openIngress());
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

  it('takes a message of QoS 2 once, although it is sent repeatedly', async () => {
    const { device, heard } = await enter(await openIngress());
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
    'acknowledges, counts and drops a message on %s',
    async (topic) => {
      const ingress = await openIngress();
      const { device, heard } = await enter(ingress);
      device.write({ cmd: 'publish', topic, payload: 'lost', qos: 1, messageId: 7, dup: false, retain: false });
      expect((await device.packet('puback')).messageId).toBe(7);
      device.publish('heard');
      await vi.waitFor(() => expect(heard.messages).toEqual(['heard']));
      expect(ingress.count('anomaly_topic_forbidden')).toBe(1);
    },
  );

  it('cuts a device that publishes repeatedly on forbidden topics', async () => {
    const ingress = await openIngress({ limits: { forbiddenTopicsMax: 3 } });
    const { device, heard } = await enter(ingress);
    for (const text of ['a', 'b', 'c']) device.publish(text, 'x');
    await device.closed();
    await vi.waitFor(() => expect(heard.closes).toEqual(['protocol_error']));
    expect(ingress.count('anomaly_topic_abuse')).toBe(1);
    expect(heard.messages).toEqual([]);
  });

  it.each([
    ['a clean', 0x02],
    ['a kept', 0x00],
  ])('refuses an empty client id with %s session', async (_session, flags) => {
    const device = await (await openIngress()).dial();
    device.writeBytes(Buffer.from([0x10, 12, 0, 4, ...Buffer.from('MQTT'), 4, flags, 0, 60, 0, 0]));
    expect(await device.connack()).toBe(2);
    await device.closed();
  });

  it('never passes a message to another device', async () => {
    const ingress = await openIngress();
    const first = await enter(ingress);
    const second = await enter(ingress, { clientId: 'GID_lab@@@02_5e_7a_10_c4_a0@@@x' });
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
    const { device } = await enter(await openIngress());
    const topics = ['devices/p2p/02_5e_7a_10_c4_9f', 'devices/p2p/02_5e_7a_10_c4_a0', '#', '$SYS/#'];
    device.write({
      cmd: 'subscribe',
      messageId: 1,
      subscriptions: topics.map((topic) => ({ topic, qos: 0 as const })),
    });
    expect((await device.packet('suback')).granted).toEqual([0, 128, 128, 128]);
  });

  it('reports why a connection ended', async () => {
    const ingress = await openIngress();
    const polite = await enter(ingress);
    polite.device.write({ cmd: 'disconnect' });
    await vi.waitFor(() => expect(polite.heard.closes).toEqual(['device_closed']));
    const lost = await enter(ingress);
    lost.device.conn.destroy();
    await vi.waitFor(() => expect(lost.heard.closes).toEqual(['connection_lost']));
  });

  it('cuts a device that is silent for one and a half times its keep-alive', async () => {
    const { device, heard } = await enter(await openIngress(), { keepalive: 1 });
    await vi.waitFor(() => expect(heard.closes).toEqual(['connection_lost']), 4000);
    await device.closed();
  });

  it('keeps a device that sends messages but no pings', async () => {
    const { device, heard } = await enter(await openIngress(), { keepalive: 1 });
    for (let count = 1; count <= 18; count++) {
      device.publish('still here');
      await vi.waitFor(() => expect(heard.messages).toHaveLength(count));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(heard.closes).toEqual([]);
  });

  it('ends the older connection of a client id before the newer one is admitted', async () => {
    const ingress = await openIngress();
    const older = await enter(ingress);
    ingress.host.supersede = () => older.connection.transport.close('taken_over');
    const newer = await enter(ingress);
    await vi.waitFor(() => expect(older.heard.closes).toEqual(['taken_over']));
    await older.device.closed();
    expect(newer.connection.transport.send('hello')).toBe(true);
  });

  it('sends nothing more to a device that does not read', async () => {
    const { device, connection } = await enter(await openIngress({ limits: { unsentBytesMax: 10_000 } }));
    device.conn.pause();
    const text = 'x'.repeat(100_000);
    let sent = 0;
    while (connection.transport.send(text) && sent < 1000) sent += 1;
    expect(sent).toBeGreaterThan(0);
    expect(sent).toBeLessThan(1000);
  });
});
