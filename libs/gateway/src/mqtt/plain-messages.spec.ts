import mqtt from 'mqtt-packet';
import { describe, expect, it } from 'vitest';
import { PlainMessages } from './plain-messages.js';

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

function taken(...parts: readonly Buffer[]): readonly string[] | undefined {
  const messages = new PlainMessages(['device-server', 'devices/p2p/x']);
  return messages.payloadsOf(Buffer.concat(parts))?.map((payload) => payload.toString());
}

describe('PlainMessages', () => {
  it.each([0, 1, 100, 112, 113, 16_000, 16_384, 60_000])('takes a message of %i bytes', (bytes) => {
    expect(taken(publish('é'.repeat(bytes / 2)))).toEqual(['é'.repeat(bytes / 2)]);
  });

  it('takes several in their order, on each of the own topics', () => {
    expect(taken(publish('one'), publish('', { topic: 'devices/p2p/x' }), publish('three'))).toEqual([
      'one',
      '',
      'three',
    ]);
  });

  it.each([
    ['a message that is retained', publish('x', { retain: true })],
    ['a message of QoS 1', publish('x', { qos: 1, messageId: 3 })],
    ['a topic of somebody else', publish('x', { topic: 'devices/p2p/y' })],
    ['a longer topic', publish('x', { topic: 'devices/p2p/xy' })],
    ['an empty topic', Buffer.of(0x30, 3, 0, 0, 65)],
    ['a topic longer than its packet', Buffer.of(0x30, 3, 0, 13, 65)],
    ['a body without room for a topic', Buffer.of(0x30, 1, 0)],
    ['an endless length', Buffer.of(0x30, 0xff, 0xff, 0xff, 0xff, 0x01)],
    ['another packet', mqtt.generate({ cmd: 'pingreq' })],
    ['half a message', publish('half').subarray(0, -1)],
    ['a type without a length', Buffer.of(0x30)],
  ])('leaves a chunk with %s to the broker, whole', (_what, bytes) => {
    expect(taken(bytes)).toBeUndefined();
    expect(taken(publish('before'), bytes)).toBeUndefined();
  });
});
