import fc from 'fast-check';
import mqtt from 'mqtt-packet';
import { describe, expect, it } from 'vitest';
import { PacketReader } from './packet-reader.js';
import type { MqttPacket, StreamFault } from './packet-reader.js';

const bounds = { unprovenPacketBytesMax: 4096, messageBytesMax: 65_536 };
const connect = mqtt.generate({
  cmd: 'connect',
  clientId: 'a',
  protocolId: 'MQTT',
  protocolVersion: 4,
  clean: true,
  keepalive: 60,
});
const ping = mqtt.generate({ cmd: 'pingreq' });

function publishOf(totalBytes: number): Buffer {
  const packet = mqtt.generate({
    cmd: 'publish',
    topic: 't',
    payload: Buffer.alloc(totalBytes),
    qos: 0,
    dup: false,
    retain: false,
  });
  const surplus = packet.length - totalBytes;
  return mqtt.generate({
    cmd: 'publish',
    topic: 't',
    payload: Buffer.alloc(totalBytes - surplus),
    qos: 0,
    dup: false,
    retain: false,
  });
}

function accepted(): PacketReader {
  const reader = fresh();
  reader.accept();
  return reader;
}

/** A reader that has read CONNECT. */
function fresh(): PacketReader {
  const reader = new PacketReader(bounds);
  reader.read(connect);
  return reader;
}

function faultOf(reader: PacketReader, bytes: Uint8Array): StreamFault | undefined {
  reader.read(Buffer.from(bytes));
  return reader.fault;
}

function bytesOf({ chunk, start, end }: MqttPacket): string {
  return chunk.toString('hex', start, end);
}

/** What a reader makes of a stream: its packets, and why it stopped. */
function readInPieces(stream: Buffer, sizes: readonly number[]) {
  const reader = new PacketReader(bounds);
  const packets: string[] = [];
  for (let at = 0, turn = 0; at < stream.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    packets.push(...reader.read(stream.subarray(at, at + size)).map(bytesOf));
    at += size;
  }
  return { packets, fault: reader.fault };
}

describe('PacketReader', () => {
  it('returns whole packets, with their first byte and the beginning of their body', () => {
    const publish = publishOf(5000);
    const chunk = Buffer.concat([publish, ping]);
    expect(accepted().read(chunk)).toEqual([
      { header: 0x30, chunk, start: 0, bodyAt: 3, end: 5000 },
      { header: 0xc0, chunk, start: 5000, bodyAt: 5002, end: 5002 },
    ]);
  });

  it('returns a packet when its last byte has arrived', () => {
    const reader = accepted();
    const publish = publishOf(300);
    for (const byte of publish.subarray(0, -1)) expect(reader.read(Buffer.of(byte))).toEqual([]);
    expect(reader.read(publish.subarray(-1)).map(bytesOf)).toEqual([publish.toString('hex')]);
  });

  it('rejects a TLS handshake, whose first byte is a CONNECT with flags', () => {
    expect(faultOf(new PacketReader(bounds), Uint8Array.of(0x16, 3, 1, 2, 0))).toBe('connect_expected');
  });

  it('takes packets of 4 KiB before the device is accepted and of 64 KiB after', () => {
    expect(publishOf(4096).length).toBe(4096);
    expect(faultOf(fresh(), publishOf(4096))).toBeUndefined();
    expect(faultOf(fresh(), publishOf(4097))).toBe('packet_too_large');
    expect(faultOf(accepted(), publishOf(65_536))).toBeUndefined();
    expect(faultOf(accepted(), publishOf(65_537))).toBe('packet_too_large');
  });

  it('rejects a header that claims 256 MB before any of it arrives', () => {
    expect(faultOf(new PacketReader(bounds), Uint8Array.of(0x10, 0xff, 0xff, 0xff, 0x7f))).toBe('packet_too_large');
  });

  it('rejects a remaining length that does not end', () => {
    expect(faultOf(new PacketReader(bounds), Uint8Array.of(0x10, 0x80, 0x80, 0x80, 0x80))).toBe('malformed_length');
  });

  it('rejects a stream that does not begin with CONNECT', () => {
    expect(faultOf(new PacketReader(bounds), Buffer.from('GET / HTTP/1.1\r\n'))).toBe('connect_expected');
  });

  it('rejects a second CONNECT and reads nothing after it', () => {
    const reader = accepted();
    expect(faultOf(reader, connect)).toBe('second_connect');
    expect(reader.read(ping)).toEqual([]);
    expect(reader.fault).toBe('second_connect');
  });

  it('reads the same packets regardless of how the bytes are cut into chunks', () => {
    const packets = fc.oneof(
      fc.integer({ min: 8, max: 9000 }).map(publishOf),
      fc.constant(ping),
      fc.constant(connect),
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    );
    fc.assert(
      fc.property(
        fc.array(packets, { maxLength: 6 }),
        fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1 }),
        (parts, sizes) => {
          const stream = Buffer.concat([connect, ...parts]);
          expect(readInPieces(stream, sizes)).toEqual(readInPieces(stream, [stream.length]));
        },
      ),
    );
  });
});
