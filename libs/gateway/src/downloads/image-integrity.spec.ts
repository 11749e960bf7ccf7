import { createHash } from 'node:crypto';
import { PassThrough } from 'node:stream';
import type { FirmwareImageRow } from '@flotilla/registry';
import { expect, it, vi } from 'vitest';
import { ImageIntegrity } from './image-integrity.js';

const bytes = Buffer.from('a firmware image');
const image = {
  id: 'image-1',
  storageKey: 'firmware/1',
  sha256: createHash('sha256').update(bytes).digest('hex'),
} as FirmwareImageRow;

it('throws if the storage breaks off the requested part while the whole file is hashed', async () => {
  const part = new PassThrough();
  const whole = new PassThrough();
  const bodies = [part, whole];
  const integrity = new ImageIntegrity({
    blobs: {
      read: () => Promise.resolve({ body: bodies.shift() ?? new PassThrough(), sizeBytes: bytes.length, version: '1' }),
    },
    onCorrupt: () => undefined,
  });
  const read = integrity.read(image, { start: 0, end: bytes.length - 1 });
  await vi.waitFor(() => expect(whole.listenerCount('data')).toBeGreaterThan(0));
  part.destroy(new Error('connection reset by the storage'));
  await vi.waitFor(() => expect(part.closed).toBe(true));
  whole.end(bytes);
  await expect(read).rejects.toThrow('connection reset by the storage');
});
