import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeAudioFrame, encodeAudioFrame, reframe } from './audio-frame.js';
import type { FramingVersion } from './audio-frame.js';

const versions = [1, 2, 3] as const satisfies readonly FramingVersion[];
const payload = fc.uint8Array({ minLength: 1, maxLength: 400 });
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

describe('a frame of audio', () => {
  it('has the format that devices write', () => {
    const packet = { payload: new Uint8Array([0xf8, 0xff, 0xfe]), timestamp: 0x01020304 };
    expect(hex(encodeAudioFrame(1, packet))).toBe('f8fffe');
    expect(hex(encodeAudioFrame(2, packet))).toBe('0002' + '0000' + '00000000' + '01020304' + '00000003' + 'f8fffe');
    expect(hex(encodeAudioFrame(3, packet))).toBe('00' + '00' + '0003' + 'f8fffe');
  });

  it('survives every framing unchanged; only framing 2 keeps the time', () => {
    fc.assert(
      fc.property(fc.constantFrom(...versions), payload, fc.nat(0xffff_ffff), (version, bytes, timestamp) => {
        const decoded = decodeAudioFrame(version, encodeAudioFrame(version, { payload: bytes, timestamp }));
        expect(decoded).toEqual({ ok: true, packet: { payload: bytes, timestamp: version === 2 ? timestamp : 0 } });
      }),
    );
  });

  it('is converted from any framing to any other with its audio unchanged', () => {
    fc.assert(
      fc.property(fc.constantFrom(...versions), fc.constantFrom(...versions), payload, (from, to, bytes) => {
        const moved = reframe(from, to, encodeAudioFrame(from, { payload: bytes, timestamp: 0 }));
        if (!moved.ok) throw new Error(moved.problem);
        expect(decodeAudioFrame(to, moved.frame)).toEqual({ ok: true, packet: { payload: bytes, timestamp: 0 } });
      }),
    );
  });

  it.each([
    ['an empty one', 1, ''],
    ['a header alone', 3, '00000000'],
    ['a cut header', 2, '00020000000000000000000000'],
    ['one with less data than stated', 3, '0000000401'],
    ['one with more data than stated', 2, '00020000000000000000000000000001' + '0102'],
    ['one of another type', 3, '0100000101'],
  ] as const)('is rejected: %s', (_, version, text) => {
    expect(decodeAudioFrame(version, Buffer.from(text, 'hex'))).toMatchObject({ ok: false });
  });

  it('never throws for any input', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...versions),
        fc.constantFrom(...versions),
        fc.uint8Array({ maxLength: 64 }),
        (from, to, bytes) => {
          const moved = reframe(from, to, bytes);
          if (moved.ok) expect(decodeAudioFrame(to, moved.frame).ok).toBe(true);
        },
      ),
    );
  });
});
