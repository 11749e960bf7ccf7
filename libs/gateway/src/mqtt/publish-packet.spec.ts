import mqtt from 'mqtt-packet';
import { describe, expect, it } from 'vitest';
import type { MqttPacket } from './packet-reader.js';
import { publishPacket, textOf, topicField } from './publish-packet.js';

function publish(payload: string, change: Partial<mqtt.IPublishPacket> = {}): Buffer {
  return mqtt.generate({
    cmd: 'publish',
    topic: 'device-server',
    payload,
    qos: 0,
    dup: false,
    retain: false,
    ...change,
  });
}

const ownTopics = ['device-server', 'devices/p2p/x'].map(topicField);

/** The packet as `PacketReader` returns it. */
function read(bytes: Buffer): MqttPacket {
  let bodyAt = 2;
  while ((bytes[bodyAt - 1] ?? 0) >= 0x80) bodyAt += 1;
  return { header: bytes[0] ?? 0, chunk: bytes, start: 0, bodyAt, end: bytes.length };
}

function textIn(bytes: Buffer): string | undefined {
  return textOf(read(bytes), ownTopics);
}

const sizes = [0, 1, 100, 112, 113, 16_000, 16_384, 60_000, 2_100_000];

describe('textOf', () => {
  it.each(sizes)('returns a text of %i bytes', (bytes) => {
    const text = 'é'.repeat(bytes / 2);
    expect(textIn(publish(text))).toBe(text);
  });

  it('takes messages on each of the listed topics', () => {
    expect(textIn(publish('two', { topic: 'devices/p2p/x' }))).toBe('two');
  });

  it.each([
    ['a message that is retained', publish('x', { retain: true })],
    ['a message of QoS 1', publish('x', { qos: 1, messageId: 3 })],
    ['the topic of another device', publish('x', { topic: 'devices/p2p/y' })],
    ['a longer topic', publish('x', { topic: 'devices/p2p/xy' })],
    ['an empty topic', Buffer.of(0x30, 3, 0, 0, 65)],
    ['a topic longer than its packet', Buffer.of(0x30, 3, 0, 13, 65)],
    ['a body without room for a topic', Buffer.of(0x30, 1, 0)],
    ['another packet', mqtt.generate({ cmd: 'pingreq' })],
  ])('returns nothing for %s', (_what, bytes) => {
    expect(textIn(bytes)).toBeUndefined();
  });
});

describe('publishPacket', () => {
  it.each(sizes)('writes %i bytes as mqtt-packet does', (bytes) => {
    const text = 'é'.repeat(bytes / 2);
    expect(publishPacket(topicField('device-server'), text).equals(publish(text))).toBe(true);
  });
});
