import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { maskedAddresses } from './masked-url.js';

describe('addresses on the audit trail', () => {
  it.each([
    ['https://hub.example/ota/short', 'https://hub.example/ota/***'],
    ['https://hub.example/ota/', 'https://hub.example/ota/'],
    [
      'https://hooks.example/services/T024BE7LD/B0123ABCDEF/x7Tq9ZbL2cVwR',
      'https://hooks.example/services/***/***/***',
    ],
    ['https://chat.example/bot123456:AAE-x/sendMessage', 'https://chat.example/***/sendMessage'],
    ['wss://user:secret@voice.example/xiaozhi/v1/?token=abc', 'wss://voice.example/xiaozhi/v1/?***'],
    ['https://files.example/firmware/lamp-2.0.1-esp32s3.bin', 'https://files.example/firmware/lamp-2.0.1-esp32s3.bin'],
    ['/ota/abc?x=1', '/ota/***?***'],
    ['got 404 from https://h.example/ota/abc, retrying', 'got 404 from https://h.example/ota/*** retrying'],
    ['/dev/ttyUSB0 is busy', '/dev/ttyUSB0 is busy'],
    ['volume 3/5', 'volume 3/5'],
  ])('of %s is kept %s', (address, kept) => {
    expect(maskedAddresses(address)).toBe(kept);
  });

  it('lose any token in a path, regardless of its letters', () => {
    for (let round = 0; round < 2_000; round += 1) {
      const bytes = randomBytes(24);
      for (const token of [
        bytes.toString('base64url'),
        bytes.toString('hex'),
        bytes.toString('hex').toUpperCase(),
        randomUUID(),
      ])
        expect(maskedAddresses(`https://host.example/hook/${token}/go`)).toBe('https://host.example/hook/***/go');
    }
  });
});
