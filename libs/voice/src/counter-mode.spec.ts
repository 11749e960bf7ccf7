import { createCipheriv } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CounterMode } from './counter-mode.js';

const hex = (text: string) => Buffer.from(text, 'hex');
const bytes = (minLength: number, maxLength: number) =>
  fc.uint8Array({ minLength, maxLength, size: 'max' }).map((values) => Buffer.from(values));
const block = bytes(16, 16);
const anyKey = hex('2b7e151628aed2a6abf7158809cf4f3c');

function modeOf(key: Buffer): CounterMode {
  const blocks = createCipheriv('aes-128-ecb', key, null).setAutoPadding(false);
  return new CounterMode((counters) => blocks.update(counters));
}

function applied(key: Buffer, counterBlock: Buffer, audio: Buffer): string {
  const target = Buffer.alloc(audio.length);
  modeOf(key).apply(counterBlock, audio, target);
  return target.toString('hex');
}

const byNode = (key: Buffer, counterBlock: Buffer, audio: Buffer) =>
  createCipheriv('aes-128-ctr', key, counterBlock).update(audio).toString('hex');

describe('the counter mode', () => {
  it('encrypts with AES-128 as in the example of the standard', () => {
    // [NIST SP 800-38A §F.5.1]
    const key = hex('2b7e151628aed2a6abf7158809cf4f3c');
    const plain = hex(
      '6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51' +
        '30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710',
    );
    expect(applied(key, hex('f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff'), plain)).toBe(
      '874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff' +
        '5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee',
    );
  });

  it('agrees with AES-128-CTR of Node for any key, counter block and length, packet after packet', () => {
    const packets = fc.array(fc.tuple(block, bytes(0, 1_484)), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(block, packets, (key, sent) => {
        const mode = modeOf(key);
        for (const [counterBlock, audio] of sent) {
          const target = Buffer.alloc(16 + audio.length, 0xaa);
          mode.apply(counterBlock, audio, target, 16);
          expect(target.toString('hex')).toBe('aa'.repeat(16) + byNode(key, counterBlock, audio));
        }
      }),
    );
  });

  it.each([
    '010000780000000100000002fffffffe',
    '01000078000000010000ffffffffffff',
    '0100007800000001ffffffffffffffff',
    '01000078ffffffffffffffffffffffff',
    'ffffffffffffffffffffffffffffffff',
    'ffffffffffffffffffffffffffffffc0',
  ])('carries over after counter block %s', (counterBlock) => {
    for (const length of [1, 15, 16, 17, 31, 32, 33, 120, 1_484]) {
      const audio = Buffer.alloc(length, 'opus');
      expect(applied(anyKey, hex(counterBlock), audio)).toBe(byNode(anyKey, hex(counterBlock), audio));
    }
  });

  it('decrypts in place what it encrypted', () => {
    fc.assert(
      fc.property(block, block, bytes(0, 200), (key, counterBlock, audio) => {
        const packet = hex(applied(key, counterBlock, audio));
        modeOf(key).apply(counterBlock, packet, packet);
        expect(packet).toEqual(audio);
      }),
    );
  });

  it('rejects audio that is too long for a datagram', () => {
    expect(() => applied(anyKey, Buffer.alloc(16), Buffer.alloc(1_505))).toThrow(RangeError);
  });
});
