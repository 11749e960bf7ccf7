/** The file of a backup: what is written is read again, and any damage is refused. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import tar from 'tar-stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BackupHeader, Part } from './archive-format.js';
import { readArchive, verifyArchive } from './read-archive.js';
import { writeArchive } from './write-archive.js';

const PASSPHRASE = 'six words that no one guesses';
const header: BackupHeader = {
  format: 1,
  hubVersion: '0.1.0',
  createdAt: '2026-11-23T08:00:00.000Z',
  keyIds: { audit: 'a', arguments: 'b' },
  contents: { migrations: [], partitions: [], tables: [] },
};
type Content = readonly (readonly [name: string, chunks: readonly Uint8Array[]])[];

let folder: string;
/** Encryption derives its key slowly, so the specs share this file. */
let encryptedFile: string;
let files = 0;
const newFile = () => path.join(folder, `backup-${++files}`);

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'flotilla-archive-'));
  encryptedFile = await written(example, PASSPHRASE);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function* partsOf(content: Content): AsyncGenerator<Part> {
  for (const [name, chunks] of content)
    yield await Promise.resolve({
      name,
      bytes: chunks.reduce((sum, { length }) => sum + length, 0),
      body: Readable.from(chunks),
    });
}

async function written(content: Content, passphrase?: string): Promise<string> {
  const file = newFile();
  await writeArchive(file, { header, parts: partsOf(content), rows: () => ({ device: 3 }), passphrase });
  return file;
}

async function read(file: string, passphrase?: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for await (const { name, body } of readArchive(file, passphrase).parts) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    found.set(name, Buffer.concat(chunks).toString('base64'));
  }
  return found;
}

const expected = (content: Content) =>
  new Map(content.map(([name, chunks]) => [name, Buffer.concat(chunks).toString('base64')]));

const example: Content = [
  ['secrets/audit.key', [Buffer.from('the secret')]],
  ['database/device/000000', [randomBytes(70_000), randomBytes(1), randomBytes(70_000)]],
  ['files/firmware/1', []],
];

describe('a backup file', () => {
  it('gives each part back, for any number and size of parts', async () => {
    const chunk = fc.uint8Array({ maxLength: 2_000 });
    const content = fc.uniqueArray(fc.tuple(fc.stringMatching(/^files\/[a-z0-9]{1,120}$/), fc.array(chunk)), {
      selector: ([name]) => name,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(content, async (parts) => {
        expect(await read(await written(parts))).toEqual(expected(parts));
      }),
      { numRuns: 25 },
    );
  });

  it('gives each part back with the passphrase', async () => {
    expect(await read(encryptedFile, PASSPHRASE)).toEqual(expected(example));
    expect((await readFile(encryptedFile)).includes('the secret')).toBe(false);
  });

  it('has a header, a manifest and secrets', async () => {
    const { header: found, manifest, secrets } = await verifyArchive(await written(example), undefined);
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
    const file = await written(example);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const again = writeArchive(file, { header, parts: partsOf([]), rows: () => ({}), passphrase: undefined });
    await expect(again).rejects.toMatchObject({
      code: 'BACKUP_REFUSED',
      message: `${file} exists already. Name another file.`,
    });
  });

  it('is whole when two backups are written to one name at once, and the second is refused', async () => {
    const file = newFile();
    const large: Content = [['files/firmware/1', Array.from({ length: 40 }, () => randomBytes(100_000))]];
    const written = await Promise.allSettled(
      [0, 1].map(() => writeArchive(file, { header, parts: partsOf(large), rows: () => ({}), passphrase: undefined })),
    );
    expect(written.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(written.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'BACKUP_REFUSED', message: `${file} exists already. Name another file.` },
    });
    expect(await read(file)).toEqual(expected(large));
    expect((await readdir(folder)).filter((name) => name.startsWith(path.basename(file)))).toHaveLength(1);
  });

  it('does not follow a link that another user left under the name of the unfinished file', async () => {
    const [file, victim] = [newFile(), newFile()];
    await writeFile(victim, 'precious');
    await symlink(victim, `${file}.unfinished`);
    await writeArchive(file, { header, parts: partsOf([]), rows: () => ({}), passphrase: undefined });
    expect(await readFile(victim, 'utf8')).toBe('precious');
  });

  it('is not there when a part fails', async () => {
    const file = newFile();
    const parts = async function* (): AsyncGenerator<Part> {
      yield* partsOf(example);
      throw new RangeError('PostgreSQL went away');
    };
    await expect(
      writeArchive(file, { header, parts: parts(), rows: () => ({}), passphrase: undefined }),
    ).rejects.toThrow('PostgreSQL went away');
    expect((await readdir(folder)).filter((name) => name.startsWith(path.basename(file)))).toEqual([]);
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
    const file = newFile();
    const parts = async function* (): AsyncGenerator<Part> {
      yield await Promise.resolve({ name: 'files/firmware/1', bytes: size, body: body() });
    };
    const wrote = writeArchive(file, { header, parts: parts(), rows: () => ({}), passphrase: undefined });
    await expect(wrote).rejects.toThrow(message);
    expect((await readdir(folder)).filter((name) => name.startsWith(path.basename(file)))).toEqual([]);
  });
});

it('leaves nothing when it is stopped in the middle', async () => {
  const file = newFile();
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
  await expect(writeArchive(file, archive)).rejects.toMatchObject({ name: 'AbortError' });
  expect((await readdir(folder)).filter((name) => name.startsWith(path.basename(file)))).toEqual([]);
  await expect(verifyArchive(await written(example), undefined, signal)).rejects.toThrow('Stopped by SIGINT.');
});

it('a backup for a folder that does not exist says what to do', async () => {
  const file = path.join(folder, 'missing', 'backup');
  const wrote = writeArchive(file, { header, parts: partsOf([]), rows: () => ({}), passphrase: undefined });
  await expect(wrote).rejects.toMatchObject({
    code: 'BACKUP_REFUSED',
    message: expect.stringMatching(/missing\/backup cannot be written: ENOENT.*Name a folder that exists/),
  });
});

describe('a backup that cannot be used', () => {
  const refused = { code: 'BACKUP_REFUSED' };

  it('is refused when it was cut off anywhere', async () => {
    const whole = await readFile(await written(example));
    await fc.assert(
      // The last 8 bytes are the checksum of gzip.
      fc.asyncProperty(fc.nat({ max: whole.length - 1 }), async (length) => {
        const file = newFile();
        await writeFile(file, whole.subarray(0, length));
        await expect(verifyArchive(file, undefined)).rejects.toMatchObject(refused);
      }),
      { numRuns: 40 },
    );
  });

  it('is refused when a byte was changed, after the ten of the gzip header, unless the bits are unused', async () => {
    const whole = await readFile(await written(example));
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
          const file = newFile();
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
    const whole = await readFile(encryptedFile);
    const changed = Buffer.from(whole);
    changed[whole.length - 20] = (changed[whole.length - 20] ?? 0) ^ 1;
    for (const bytes of [whole.subarray(0, 70_000), changed]) {
      const file = newFile();
      await writeFile(file, bytes);
      await expect(verifyArchive(file, PASSPHRASE)).rejects.toMatchObject(refused);
    }
  });

  it('is refused with a wrong passphrase, without one, and with one that it does not need', async () => {
    const file = encryptedFile;
    await expect(verifyArchive(file, 'another passphrase')).rejects.toMatchObject({
      message: expect.stringContaining('is not the passphrase of'),
    });
    await expect(verifyArchive(file, undefined)).rejects.toMatchObject({
      message: `${file} is encrypted. Set FLOTILLA_BACKUP_PASSPHRASE to its passphrase.`,
    });
    await expect(verifyArchive(await written(example), PASSPHRASE)).rejects.toMatchObject({
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
    const file = newFile();
    await writeFile(file, gzipSync(await buffer(pack)));
    await expect(verifyArchive(file, undefined)).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining(`${file} is damaged or incomplete`),
    });
  });

  it('is refused when it is another file, or missing', async () => {
    const file = newFile();
    await writeFile(file, 'PGDMP');
    await expect(verifyArchive(file, undefined)).rejects.toMatchObject({
      message: `${file} is not a backup of Flotilla.`,
    });
    await writeFile(file, '');
    await expect(verifyArchive(file, undefined)).rejects.toMatchObject(refused);
    await expect(verifyArchive(newFile(), undefined)).rejects.toMatchObject({
      message: expect.stringContaining('cannot be read'),
    });
  });
});
