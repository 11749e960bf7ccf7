/** The contract of a blob store, for every implementation. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { BlobStore } from './blob-store.js';

export interface BlobStoreHarness {
  readonly name: string;
  /** Valid while the tests run. */
  store(): BlobStore;
}

const jpeg = { contentType: 'image/jpeg', maxBytes: 1_000 };

async function bytesOf(
  store: BlobStore,
  key: string,
  range?: { start: number; end: number },
): Promise<string | undefined> {
  const blob = await store.read(key, range);
  return blob && (await buffer(blob.body)).toString('latin1');
}

async function keysBelow(store: BlobStore, prefix: string): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list(prefix)) keys.push(key);
  return keys.sort();
}

export function describeBlobStore({ name, store: current }: BlobStoreHarness): void {
  describe(`blob store (${name})`, () => {
    it('keeps bytes and returns their size and hash', async () => {
      const sha256 = createHash('sha256').update('abcdef').digest('hex');
      expect(await current().put('kept/a.jpg', Readable.from([Buffer.from('abc'), Buffer.from('def')]), jpeg)).toEqual({
        sizeBytes: 6,
        sha256,
      });
      expect(await bytesOf(current(), 'kept/a.jpg')).toBe('abcdef');
    });

    it('keeps more than one part, byte for byte', async () => {
      const chunk = Buffer.alloc(1024 * 1024, 'x');
      const chunks = Array.from({ length: 12 }, (_, index) => Buffer.concat([Buffer.from([index]), chunk]));
      const kept = await current().put('kept/large', Readable.from(chunks), { ...jpeg, maxBytes: 20_000_000 });
      expect(kept.sha256).toBe(createHash('sha256').update(Buffer.concat(chunks)).digest('hex'));
      const blob = await current().read('kept/large');
      expect(
        createHash('sha256')
          .update(await buffer(blob?.body ?? Readable.from([])))
          .digest('hex'),
      ).toBe(kept.sha256);
    });

    it('reads an inclusive range, and returns the size of the whole blob', async () => {
      await current().put('kept/ranged', Readable.from([Buffer.from('0123456789')]), jpeg);
      expect(await bytesOf(current(), 'kept/ranged', { start: 2, end: 5 })).toBe('2345');
      const blob = await current().read('kept/ranged', { start: 9, end: 9 });
      blob?.body.destroy();
      expect(blob?.sizeBytes).toBe(10);
    });

    it('keeps an empty file', async () => {
      expect((await current().put('kept/empty', Readable.from([]), jpeg)).sizeBytes).toBe(0);
      expect(await bytesOf(current(), 'kept/empty')).toBe('');
    });

    it('has nothing under an unknown key', async () => {
      expect(await current().read('kept/nothing')).toBeUndefined();
      await current().remove('kept/nothing');
    });

    it('replaces an earlier blob', async () => {
      await current().put('kept/twice', Readable.from([Buffer.from('first')]), jpeg);
      await current().put('kept/twice', Readable.from([Buffer.from('second')]), jpeg);
      expect(await bytesOf(current(), 'kept/twice')).toBe('second');
    });

    it('accepts exactly the maximum, keeps nothing of more, and closes the source', async () => {
      expect(await current().put('limit/exact', Readable.from([Buffer.alloc(1_000)]), jpeg)).toMatchObject({
        sizeBytes: 1_000,
      });
      const endless = Readable.from(
        (function* () {
          for (;;) yield Buffer.alloc(300);
        })(),
      );
      await expect(current().put('limit/over', endless, jpeg)).rejects.toMatchObject({ code: 'BLOB_TOO_LARGE' });
      expect(endless.destroyed).toBe(true);
      expect(await keysBelow(current(), 'limit/')).toEqual(['limit/exact']);
    });

    it('keeps nothing of a source that fails, throws its error, and keeps the earlier blob', async () => {
      await current().put('broken/off', Readable.from([Buffer.from('before')]), jpeg);
      const breaking = Readable.from(
        (function* () {
          yield Buffer.from('half');
          throw new RangeError('gone');
        })(),
      );
      await expect(current().put('broken/off', breaking, jpeg)).rejects.toThrow(RangeError);
      expect(await bytesOf(current(), 'broken/off')).toBe('before');
      const destroyed = new Readable({ read: () => undefined });
      const put = current().put('broken/new', destroyed, jpeg);
      destroyed.push('half');
      destroyed.destroy(new RangeError('cut'));
      await expect(put).rejects.toThrow(RangeError);
      expect(await keysBelow(current(), 'broken/')).toEqual(['broken/off']);
    });

    it('lists below a prefix and forgets what is removed', async () => {
      for (const key of ['listed/a', 'listed/b/c', 'listed-not/d'])
        await current().put(key, Readable.from(['x']), jpeg);
      expect(await keysBelow(current(), 'listed/')).toEqual(['listed/a', 'listed/b/c']);
      await current().remove('listed/a');
      expect(await keysBelow(current(), 'listed/')).toEqual(['listed/b/c']);
      expect(await keysBelow(current(), 'nowhere/')).toEqual([]);
    });

    it.each(['', '/a', 'a/', 'a//b', '../a', 'a/../b', '.incoming/a', 'A', 'a b', 'a\n', 'a'.repeat(201)])(
      'rejects the key %j',
      async (key) => {
        await expect(current().put(key, Readable.from(['x']), jpeg)).rejects.toMatchObject({
          code: 'BLOB_KEY_INVALID',
        });
        await expect(current().read(key)).rejects.toMatchObject({ code: 'BLOB_KEY_INVALID' });
        await expect(current().remove(key)).rejects.toMatchObject({ code: 'BLOB_KEY_INVALID' });
      },
    );

    it('can be used', async () => {
      await expect(current().check()).resolves.toBeUndefined();
    });
  });
}
