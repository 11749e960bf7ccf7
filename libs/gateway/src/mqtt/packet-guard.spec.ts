import fc from 'fast-check';
import mqtt from 'mqtt-packet';
import { describe, expect, it } from 'vitest';
import { PacketGuard } from './packet-guard.js';

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

function accepted(): PacketGuard {
  const guard = new PacketGuard(bounds);
  guard.inspect(connect);
  guard.accept();
  return guard;
}

describe('PacketGuard', () => {
  it('lets whole packets pass in any chunking', () => {
    const guard = accepted();
    expect(guard.inspect(Buffer.concat([publishOf(5000), ping, publishOf(300), ping]))).toBeUndefined();
  });

  it('takes a TLS handshake, whose first byte is a CONNECT with flags, for no CONNECT', () => {
    expect(new PacketGuard(bounds).inspect(Buffer.from([0x16, 3, 1, 2, 0]))).toBe('connect_expected');
  });

  it('cuts at 4 KiB before the device is accepted and at 64 KiB after', () => {
    expect(publishOf(4096).length).toBe(4096);
    const fresh = () => {
      const guard = new PacketGuard(bounds);
      guard.inspect(connect);
      return guard;
    };
    expect(fresh().inspect(publishOf(4096))).toBeUndefined();
    expect(fresh().inspect(publishOf(4097))).toBe('packet_too_large');
    expect(accepted().inspect(publishOf(65_536))).toBeUndefined();
    expect(accepted().inspect(publishOf(65_537))).toBe('packet_too_large');
  });

  it('cuts a header that claims 256 MB before any of it arrives', () => {
    expect(new PacketGuard(bounds).inspect(Uint8Array.of(0x10, 0xff, 0xff, 0xff, 0x7f))).toBe('packet_too_large');
  });

  it('cuts a remaining length that does not end', () => {
    expect(new PacketGuard(bounds).inspect(Uint8Array.of(0x10, 0x80, 0x80, 0x80, 0x80))).toBe('malformed_length');
  });

  it('cuts a stream that does not begin with CONNECT', () => {
    expect(new PacketGuard(bounds).inspect(Buffer.from('GET / HTTP/1.1\r\n'))).toBe('connect_expected');
  });

  it('cuts a second CONNECT and stays cut', () => {
    const guard = accepted();
    expect(guard.inspect(connect)).toBe('second_connect');
    expect(guard.inspect(ping)).toBe('second_connect');
  });

  it('notices that the device announced its end', () => {
    const guard = accepted();
    expect(guard.sawDisconnect).toBe(false);
    guard.inspect(mqtt.generate({ cmd: 'disconnect' }));
    expect(guard.sawDisconnect).toBe(true);
  });

  it('comes to the same verdict however the bytes are cut into chunks', () => {
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
          const whole = new PacketGuard(bounds).inspect(stream);
          const pieces = new PacketGuard(bounds);
          for (let at = 0, turn = 0; at < stream.length; turn += 1) {
            const size = sizes[turn % sizes.length] ?? 1;
            pieces.inspect(stream.subarray(at, at + size));
            at += size;
          }
          expect(pieces.cut).toBe(whole);
        },
      ),
    );
  });
});
