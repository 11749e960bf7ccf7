import { describe, expect, it } from 'vitest';
import { AssetsReader } from './assets-reader.js';

/** An image as the build tools make it. */
function assets({ checksum, length }: { readonly checksum?: number; readonly length?: number } = {}): Uint8Array {
  const content = Uint8Array.from({ length: 1_000 }, (_, index) => index);
  const header = new DataView(new ArrayBuffer(12));
  header.setUint32(0, 2, true);
  header.setUint32(4, checksum ?? content.reduce((sum, byte) => (sum + byte) & 0xffff, 0), true);
  header.setUint32(8, length ?? content.length, true);
  return Uint8Array.from([...new Uint8Array(header.buffer), ...content]);
}

function read(image: Uint8Array, chunkBytes: number) {
  const reader = new AssetsReader();
  for (let at = 0; at < image.length; at += chunkBytes) reader.push(image.subarray(at, at + chunkBytes));
  return reader.end();
}

describe('an assets image', () => {
  it.each([1, 5, 13, 4_096])('is read in pieces of %i bytes', (chunkBytes) => {
    expect(read(assets(), chunkBytes)).toEqual({ ok: true, bytes: 1_012 });
  });

  it('may be followed by what does not belong to it', () => {
    expect(read(Uint8Array.from([...assets(), 1, 2, 3]), 100)).toEqual({ ok: true, bytes: 1_015 });
  });

  it('is refused where it is damaged or short', () => {
    expect(read(assets({ checksum: 7 }), 100)).toMatchObject({
      ok: false,
      reason: expect.stringContaining('the header says 7'),
    });
    expect(read(assets({ length: 1_001 }), 100)).toMatchObject({ ok: false });
    expect(read(new Uint8Array(11), 100)).toEqual({ ok: false, reason: '11 bytes are no assets' });
  });
});
