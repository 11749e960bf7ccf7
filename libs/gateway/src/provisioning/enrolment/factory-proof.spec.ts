import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isProofRight, readFactoryProof } from './factory-proof.js';

const key = Buffer.alloc(32, 7);
const hmac = createHmac('sha256', key).update('challenge').digest('hex');
const body = { algorithm: 'hmac-sha256', serial_number: 'S'.repeat(32), challenge: 'challenge', hmac };

describe('the proof of a chip with a factory serial', () => {
  it('is valid for its key and for the challenge of the hub', () => {
    const proof = readFactoryProof(body);
    if (proof === undefined) throw new Error('not read');
    expect(proof.serial).toBe(body.serial_number);
    expect(isProofRight(proof, key, 'challenge')).toBe(true);
    expect(isProofRight(proof, key, 'another')).toBe(false);
    expect(isProofRight(proof, Buffer.alloc(32, 8), 'challenge')).toBe(false);
  });

  it.each([
    ['an empty body', {}],
    ['a chip without the HMAC unit', { ...body, hmac: '' }],
    ['upper-case digits', { ...body, hmac: hmac.toUpperCase() }],
    ['another algorithm', { ...body, algorithm: 'none' }],
    ['a serial that is not a string', { ...body, serial_number: 7 }],
  ])('is absent in %s', (_name, given) => {
    expect(readFactoryProof(given)).toBeUndefined();
  });
});
