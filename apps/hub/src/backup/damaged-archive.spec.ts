/** The file of a backup: any damage is refused. */
import { readFile, writeFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import tar from 'tar-stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { example, header, openArchiveBench, PASSPHRASE } from './archive-bench.suite.js';
import type { ArchiveBench } from './archive-bench.suite.js';
import { verifyArchive } from './read-archive.js';

let bench: ArchiveBench;
beforeAll(async () => {
  bench = await openArchiveBench();
});
afterAll(() => bench.close());

describe('a backup that cannot be used', () => {
  const refused = { code: 'BACKUP_REFUSED' };

  it('is refused when it was cut off anywhere', async () => {
    const whole = await readFile(await bench.written(example));
    await fc.assert(
      // The last 8 bytes are the checksum of gzip.
      fc.asyncProperty(fc.nat({ max: whole.length - 1 }), async (length) => {
        const file = bench.newFile();
        await writeFile(file, whole.subarray(0, length));
        await expect(verifyArchive(file, undefined)).rejects.toMatchObject(refused);
      }),
      { numRuns: 40 },
    );
  });

  it('is refused when a byte was changed, after the ten of the gzip header, unless the bits are unused', async () => {
    const whole = await readFile(await bench.written(example));
    const contents = gunzipSync(whole);
    // Deflate ends blocks at whole bytes and ignores the bits in between.
    const isUnchanged = (bytes: Buffer) => {
      try {
        return gunzipSync(bytes).equals(contents);
      } catch {
        return false;
      }
    };
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 10, max: whole.length - 1 }),
        fc.integer({ min: 1, max: 255 }),
        async (at, by) => {
          const changed = Buffer.from(whole);
          changed[at] = (changed[at] ?? 0) ^ by;
          const file = bench.newFile();
          await writeFile(file, changed);
          const verified = verifyArchive(file, undefined);
          if (isUnchanged(changed)) await expect(verified).resolves.toBeDefined();
          else await expect(verified).rejects.toMatchObject(refused);
        },
      ),
      {
        numRuns: 40,
        examples: [
          [1_000, 1],
          [whole.length - 9, 128],
          [whole.length - 1, 255],
        ],
      },
    );
  });

  it('is refused when an encrypted one was cut off or changed', async () => {
    const whole = await readFile(bench.encryptedFile);
    const changed = Buffer.from(whole);
    changed[whole.length - 20] = (changed[whole.length - 20] ?? 0) ^ 1;
    for (const bytes of [whole.subarray(0, 70_000), changed]) {
      const file = bench.newFile();
      await writeFile(file, bytes);
      await expect(verifyArchive(file, PASSPHRASE)).rejects.toMatchObject(refused);
    }
  });

  it('is refused with a wrong passphrase, without one, and with one that it does not need', async () => {
    const file = bench.encryptedFile;
    await expect(verifyArchive(file, 'another passphrase')).rejects.toMatchObject({
      message: expect.stringContaining('is not the passphrase of'),
    });
    await expect(verifyArchive(file, undefined)).rejects.toMatchObject({
      message: `${file} is encrypted. Set FLOTILLA_BACKUP_PASSPHRASE to its passphrase.`,
    });
    await expect(verifyArchive(await bench.written(example), PASSPHRASE)).rejects.toMatchObject({
      message: expect.stringContaining('is not encrypted, but FLOTILLA_BACKUP_PASSPHRASE is set'),
    });
  });

  it.each([
    ['a header', [['backup.json', '{"format":']]],
    [
      'a manifest',
      [
        ['backup.json', JSON.stringify(header)],
        ['manifest.json', '{"parts":'],
      ],
    ],
    [
      'a manifest of other things',
      [
        ['backup.json', JSON.stringify(header)],
        ['manifest.json', '{"parts":1}'],
      ],
    ],
  ] as const)('is refused with %s that cannot be read', async (_what, parts) => {
    const pack = tar.pack();
    for (const [name, text] of parts) pack.entry({ name }, text);
    pack.finalize();
    const file = bench.newFile();
    await writeFile(file, gzipSync(await buffer(pack)));
    await expect(verifyArchive(file, undefined)).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining(`${file} is damaged or incomplete`),
    });
  });

  it('is refused when it is another file, or missing', async () => {
    const file = bench.newFile();
    await writeFile(file, 'PGDMP');
    await expect(verifyArchive(file, undefined)).rejects.toMatchObject({
      message: `${file} is not a backup of Flotilla.`,
    });
    await writeFile(file, '');
    await expect(verifyArchive(file, undefined)).rejects.toMatchObject(refused);
    await expect(verifyArchive(bench.newFile(), undefined)).rejects.toMatchObject({
      message: expect.stringContaining('cannot be read'),
    });
  });
});
