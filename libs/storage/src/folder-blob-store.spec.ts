import { chmod, mkdtemp, mkdir, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeBlobStore } from './blob-store.suite.js';
import { FolderBlobStore } from './folder-blob-store.js';

let folder: string;
let store: FolderBlobStore;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'flotilla-files-'));
  store = await FolderBlobStore.open({ folder: path.join(folder, 'shared') });
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describeBlobStore({ name: 'folder', store: () => store });

describe('a folder of files', () => {
  /** An unfinished file of another process, last written `ageMs` ago. */
  async function leftover(within: string, name: string, ageMs: number): Promise<void> {
    await mkdir(path.join(within, '.incoming'), { recursive: true });
    const file = path.join(within, '.incoming', name);
    await writeFile(file, 'half');
    const at = new Date(Date.now() - ageMs);
    await utimes(file, at, at);
  }

  it('removes unfinished files of a dead process, and keeps those of a living one', async () => {
    const within = path.join(folder, 'leftovers');
    await leftover(within, 'old', 3_600_000);
    await leftover(within, 'young', 1_000);
    await FolderBlobStore.open({ folder: within });
    expect(await readdir(path.join(within, '.incoming'))).toEqual(['young']);
    await FolderBlobStore.open({ folder: within, isAlone: true });
    expect(await readdir(path.join(within, '.incoming'))).toEqual([]);
  });

  it('opened for reading writes nothing, and must exist', async () => {
    const within = path.join(folder, 'read-only');
    const reading = () => FolderBlobStore.open({ folder: within, isReadOnly: true });
    await expect(reading()).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    await leftover(within, 'old', 3_600_000);
    await writeFile(path.join(within, 'a'), 'x');
    await chmod(path.join(within, '.incoming'), 0o500);
    const keys: string[] = [];
    for await (const { key } of (await reading()).list('')) keys.push(key);
    expect(keys).toEqual(['a']);
    expect(await readdir(path.join(within, '.incoming'))).toEqual(['old']);
    await chmod(path.join(within, '.incoming'), 0o700);
  });

  it('lists no unfinished file', async () => {
    const slow = new Readable({ read: () => undefined });
    const put = store.put('slow/file', slow, { contentType: 'image/png', maxBytes: 10 });
    slow.push('half');
    expect(await store.read('slow/file')).toBeUndefined();
    slow.push(null);
    expect(await put).toMatchObject({ sizeBytes: 4 });
    const keys: string[] = [];
    for await (const { key } of store.list('')) keys.push(key);
    expect(keys.filter((key) => key.startsWith('.'))).toEqual([]);
  });

  it('lists no files of other programs, which no key can name', async () => {
    const within = path.join(folder, 'mounted');
    const mounted = await FolderBlobStore.open({ folder: within });
    await mounted.put('a/b', Readable.from(['x']), { contentType: 'image/png', maxBytes: 10 });
    await mkdir(path.join(within, 'lost+found'));
    await writeFile(path.join(within, 'lost+found', 'c'), 'x');
    for (const name of ['.DS_Store', 'Thumbs.db', 'a/B']) await writeFile(path.join(within, name), 'x');
    const keys: string[] = [];
    for await (const { key } of mounted.list('')) keys.push(key);
    expect(keys).toEqual(['a/b']);
  });

  it('reports a folder that cannot be created, with what to do', async () => {
    await writeFile(path.join(folder, 'file'), '');
    await expect(FolderBlobStore.open({ folder: path.join(folder, 'file', 'x') })).rejects.toMatchObject({
      code: 'STORAGE_UNAVAILABLE',
      message: expect.stringMatching(
        /file\/x for files cannot be used: ENOTDIR.*\. Let the user of the hub write there/,
      ),
    });
    const reading = FolderBlobStore.open({ folder: path.join(folder, 'file', 'x'), isReadOnly: true });
    await expect(reading).rejects.toThrow(/ENOTDIR.*\. Let this user read there/);
  });
});
