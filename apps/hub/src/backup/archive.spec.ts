/** The file of a backup: what is written is read again, and nothing is left of what fails. */
import { randomBytes } from 'node:crypto';
import { readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encoded, example, header, openArchiveBench, partsIn, partsOf, PASSPHRASE } from './archive-bench.suite.js';
import type { ArchiveBench, Content } from './archive-bench.suite.js';
import type { Part } from './archive-format.js';
import { verifyArchive } from './read-archive.js';
import { writeArchive } from './write-archive.js';

let bench: ArchiveBench;
beforeAll(async () => {
  bench = await openArchiveBench();
});
afterAll(() => bench.close());

describe('a backup file', () => {
  it('gives each part back, for any number and size of parts', async () => {
    const chunk = fc.uint8Array({ maxLength: 2_000 });
    const content = fc.uniqueArray(fc.tuple(fc.stringMatching(/^files\/[a-z0-9]{1,120}$/), fc.array(chunk)), {
      selector: ([name]) => name,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(content, async (parts) => {
        expect(await partsIn(await bench.written(parts))).toEqual(encoded(parts));
      }),
      { numRuns: 25 },
    );
  });

  it('gives each part back with the passphrase', async () => {
    expect(await partsIn(bench.encryptedFile, PASSPHRASE)).toEqual(encoded(example));
    expect((await readFile(bench.encryptedFile)).includes('the secret')).toBe(false);
  });

  it('has a header, a manifest and secrets', async () => {
    const { header: found, manifest, secrets } = await verifyArchive(await bench.written(example), undefined);
    expect(found).toEqual(header);
    expect(manifest.rows).toEqual({ device: 3 });
    expect(manifest.parts.map(({ name, bytes }) => [name, bytes]).slice(1)).toEqual([
      ['secrets/audit.key', 10],
      ['database/device/000000', 140_001],
      ['files/firmware/1', 0],
    ]);
    expect([...secrets]).toEqual([['audit.key', 'the secret']]);
  });

  it('can be read by its owner only, and replaces no other file', async () => {
    const file = await bench.written(example);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const again = writeArchive(file, { header, parts: partsOf([]), rows: () => ({}), passphrase: undefined });
    await expect(again).rejects.toMatchObject({
      code: 'BACKUP_REFUSED',
      message: `${file} exists already. Name another file.`,
    });
  });

  it('is whole when two backups are written to one name at once, and the second is refused', async () => {
    const file = bench.newFile();
    const large: Content = [['files/firmware/1', Array.from({ length: 40 }, () => randomBytes(100_000))]];
    const written = await Promise.allSettled(
      [0, 1].map(() => writeArchive(file, { header, parts: partsOf(large), rows: () => ({}), passphrase: undefined })),
    );
    expect(written.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(written.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'BACKUP_REFUSED', message: `${file} exists already. Name another file.` },
    });
    expect(await partsIn(file)).toEqual(encoded(large));
    expect((await readdir(bench.folder)).filter((name) => name.startsWith(path.basename(file)))).toHaveLength(1);
  });

  it('does not follow a link that another user left under the name of the unfinished file', async () => {
    const [file, victim] = [bench.newFile(), bench.newFile()];
    await writeFile(victim, 'precious');
    await symlink(victim, `${file}.unfinished`);
    await writeArchive(file, { header, parts: partsOf([]), rows: () => ({}), passphrase: undefined });
    expect(await readFile(victim, 'utf8')).toBe('precious');
  });

  it('is not there when a part fails', async () => {
    const file = bench.newFile();
    const parts = async function* (): AsyncGenerator<Part> {
      yield* partsOf(example);
      throw new RangeError('PostgreSQL went away');
    };
    await expect(
      writeArchive(file, { header, parts: parts(), rows: () => ({}), passphrase: undefined }),
    ).rejects.toThrow('PostgreSQL went away');
    expect((await readdir(bench.folder)).filter((name) => name.startsWith(path.basename(file)))).toEqual([]);
  });
});

describe('a backup of a file that cannot be read to its end', () => {
  const size = 1_000_000;
  const bodies: readonly (readonly [string, () => AsyncIterable<Uint8Array>, string])[] = [
    ['fails', failing, 'the bucket went away'],
    ['becomes shorter', () => Readable.from([randomBytes(10)]), 'Size mismatch'],
    ['becomes longer', () => Readable.from([randomBytes(2 * size)]), 'Size mismatch'],
  ];

  async function* failing(): AsyncGenerator<Uint8Array> {
    yield randomBytes(100_000);
    await Promise.resolve();
    throw new Error('the bucket went away');
  }

  it.each(bodies)('is not there when it %s, and the process goes on', async (_what, body, message) => {
    const file = bench.newFile();
    const parts = async function* (): AsyncGenerator<Part> {
      yield await Promise.resolve({ name: 'files/firmware/1', bytes: size, body: body() });
    };
    const wrote = writeArchive(file, { header, parts: parts(), rows: () => ({}), passphrase: undefined });
    await expect(wrote).rejects.toThrow(message);
    expect((await readdir(bench.folder)).filter((name) => name.startsWith(path.basename(file)))).toEqual([]);
  });
});

it('leaves nothing when it is stopped in the middle', async () => {
  const file = bench.newFile();
  const controller = new AbortController();
  async function* endless(): AsyncGenerator<Part> {
    for (let part = 0; ; part += 1) {
      if (part === 3) controller.abort(new Error('Stopped by SIGINT.'));
      const bytes = randomBytes(100_000);
      yield await Promise.resolve({ name: `files/${part}`, bytes: bytes.length, body: Readable.from([bytes]) });
    }
  }
  const { signal } = controller;
  const archive = { header, parts: endless(), rows: () => ({}), passphrase: undefined, signal };
  await expect(writeArchive(file, archive)).rejects.toThrow('Stopped by SIGINT.');
  expect((await readdir(bench.folder)).filter((name) => name.startsWith(path.basename(file)))).toEqual([]);
  await expect(verifyArchive(await bench.written(example), undefined, signal)).rejects.toThrow('Stopped by SIGINT.');
});

it('a backup for a folder that does not exist says what to do', async () => {
  const file = path.join(bench.folder, 'missing', 'backup');
  const wrote = writeArchive(file, { header, parts: partsOf([]), rows: () => ({}), passphrase: undefined });
  await expect(wrote).rejects.toMatchObject({
    code: 'BACKUP_REFUSED',
    message: expect.stringMatching(/missing\/backup cannot be written: ENOENT.*Name a folder that exists/),
  });
});
