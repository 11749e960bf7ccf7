/** Compares our framing with the library: each reads what the other wrote, for any chunking. */
import fc from 'fast-check';
import { generate, parser, type Packet } from 'mqtt-packet';
import { describe, expect, it } from 'vitest';
import { FrameError, FrameReader, PublishEncoder, type InboundPacket } from './mqtt-frames.js';

const text = fc.string({ unit: 'grapheme', maxLength: 300 }).filter((value) => !/\p{Surrogate}/u.test(value));

describe('MQTT framing', () => {
  it('reads what mqtt-packet wrote, in chunks of any size', () => {
    fc.assert(
      fc.property(fc.array(text), fc.integer({ min: 1, max: 64 }), (texts, chunkBytes) => {
        const packets = texts.map((payload) =>
          generate({ cmd: 'publish', topic: 'devices/p2p/x', qos: 0, dup: false, retain: false, payload }),
        );
        const bytes = Buffer.concat([
          generate({ cmd: 'connack', returnCode: 0, sessionPresent: false }),
          ...packets,
          generate({ cmd: 'pingresp' }),
        ]);
        const read: InboundPacket[] = [];
        const frames = new FrameReader();
        for (let at = 0; at < bytes.length; at += chunkBytes) {
          const chunk = Buffer.from(bytes.subarray(at, at + chunkBytes));
          frames.push(chunk, (packet) => read.push(packet));
          chunk.fill(0xff);
        }
        expect(read).toEqual([
          { kind: 'connack', returnCode: 0 },
          ...texts.map((each) => ({ kind: 'publish', text: each })),
          { kind: 'other' },
        ]);
      }),
    );
  });

  it('reads past the packet id of QoS 1', () => {
    const read: InboundPacket[] = [];
    const packet = generate({
      cmd: 'publish',
      topic: 't',
      qos: 1,
      messageId: 7,
      dup: false,
      retain: false,
      payload: 'x',
    });
    new FrameReader().push(packet, (inbound) => read.push(inbound));
    expect(read).toEqual([{ kind: 'publish', text: 'x' }]);
  });

  it('writes what mqtt-packet reads, at every number of length digits', () => {
    const encoder = new PublishEncoder('device-server');
    for (const length of [0, 100, 113, 114, 8000, 16_369, 16_370, 40_000]) {
      const read: Packet[] = [];
      const library = parser();
      library.on('packet', (packet) => read.push(packet));
      library.parse(encoder.encode('ä'.repeat(length / 2)));
      expect(read).toMatchObject([
        { cmd: 'publish', topic: 'device-server', qos: 0, retain: false, payload: Buffer.from('ä'.repeat(length / 2)) },
      ]);
    }
  });

  it.each([
    ['a length of five digits', [0x30, 0xff, 0xff, 0xff, 0xff]],
    ['more than 64 KiB', [0x30, 0x81, 0x80, 0x04]],
  ])('refuses %s', (_name, bytes) => {
    expect(() => new FrameReader().push(Buffer.from(bytes), () => undefined)).toThrow(FrameError);
  });
});
