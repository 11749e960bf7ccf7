import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeUdpHeader, nonceOf, readUdpHeader, UDP_DATAGRAM_BYTES_MAX } from './udp-packet.js';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

describe('a UDP packet', () => {
  it('has the header that devices write: the nonce with length, time and number', () => {
    expect(nonceOf(0xa1b2c3d4)).toBe('01000000a1b2c3d40000000000000000');
    const header = makeUdpHeader({ length: 3, ssrc: 0xa1b2c3d4, timestamp: 120, sequence: 2 });
    expect(hex(header)).toBe('01000003a1b2c3d40000007800000002');
    expect(nonceOf(7)).toBe('01000000000000070000000000000000');
  });

  it('is parsed as it was made', () => {
    const word = fc.nat(0xffff_ffff);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_484 }), word, word, word, (length, ssrc, timestamp, sequence) => {
        const header = { length, ssrc, timestamp, sequence };
        expect(readUdpHeader(Buffer.concat([makeUdpHeader(header), Buffer.alloc(length)]))).toEqual({
          ok: true,
          header,
        });
      }),
    );
  });

  it.each([
    ['truncated', Buffer.alloc(16, 1)],
    ['too_long', Buffer.alloc(UDP_DATAGRAM_BYTES_MAX + 1, 1)],
    ['wrong_type', Buffer.concat([Buffer.from('02000001', 'hex'), Buffer.alloc(13)])],
    ['wrong_length', Buffer.concat([Buffer.from('01000002', 'hex'), Buffer.alloc(13)])],
  ])('is rejected: %s', (problem, datagram) => {
    expect(readUdpHeader(datagram)).toEqual({ ok: false, problem });
  });
});
