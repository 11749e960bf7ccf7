import { describe, expect, it } from 'vitest';
import { UdpAudio } from './udp-audio.js';

async function shortBufferOf(bufferBytes: number) {
  const audio = await UdpAudio.open({ host: '127.0.0.1', port: 0, bufferBytes });
  try {
    return audio.shortBuffer;
  } finally {
    await audio.close();
  }
}

describe('the UDP port', () => {
  it('reports that the system granted a smaller buffer than requested', async () => {
    const askedBytes = 0x7fff_ffff;
    const short = await shortBufferOf(askedBytes);
    expect(short?.askedBytes).toBe(askedBytes);
    expect(short?.grantedBytes).toBeGreaterThan(0);
    expect(short?.grantedBytes).toBeLessThan(askedBytes);
  });

  it('reports nothing if the system granted the requested buffer', async () => {
    expect(await shortBufferOf(16 * 1024)).toBeUndefined();
  });
});
