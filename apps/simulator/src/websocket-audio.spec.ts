import { describe, expect, it } from 'vitest';
import { frameAudio } from './websocket-socket.js';

describe('frames of sound', () => {
  const packet = new Uint8Array([0xf8, 0xff, 0xfe]);

  it.each([
    [1, 'f8fffe'],
    [2, '00020000000000000000000000000003f8fffe'],
    [3, '00000003f8fffe'],
  ])('of version %i', (version, hex) => {
    expect(Buffer.from(frameAudio(packet, version)).toString('hex')).toBe(hex);
  });
});
