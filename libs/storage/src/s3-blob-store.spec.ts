import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import S3rver from 's3rver';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeBlobStore } from './blob-store.suite.js';
import { S3BlobStore } from './s3-blob-store.js';

let folder: string;
let server: S3rver;
let endpoint: string;
let store: S3BlobStore;

const credentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };
const open = (bucket: string, at = endpoint) =>
  new S3BlobStore({ bucket, prefix: 'hub/', region: 'us-east-1', endpoint: at, credentials });
const png = { contentType: 'image/png', maxBytes: 100 };

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'flotilla-s3-'));
  const options = { port: 0, address: '127.0.0.1', silent: true, directory: folder };
  server = new S3rver({ ...options, configureBuckets: [{ name: 'files', configs: [] }] });
  const { port } = await server.run();
  endpoint = `http://127.0.0.1:${port}`;
  store = open('files');
});

afterAll(async () => {
  await store.close();
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

describeBlobStore({ name: 'S3', store: () => store });

describe('a bucket of files', () => {
  it('that does not exist reports it', async () => {
    const nowhere = open('missing');
    await expect(nowhere.check()).rejects.toMatchObject({
      code: 'STORAGE_UNAVAILABLE',
      message: expect.stringContaining('missing'),
    });
    await expect(nowhere.put('a', Readable.from(['x']), png)).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    await expect(nowhere.read('a')).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    await nowhere.close();
  });

  it('lists no objects of other programs, which no key can name', async () => {
    const ours = { bucket: 'files', region: 'us-east-1', endpoint, credentials };
    const [own, foreign] = ['shared/', 'shared/Foreign-'].map((prefix) => new S3BlobStore({ ...ours, prefix }));
    for (const some of [own, foreign]) await some?.put('a', Readable.from(['x']), png);
    const keys: string[] = [];
    for await (const { key } of own?.list('') ?? []) keys.push(key);
    expect(keys).toEqual(['a']);
    await own?.close();
    await foreign?.close();
  });

  it('that does not accept the key reports it', async () => {
    const unknown = { accessKeyId: 'UNKNOWN', secretAccessKey: 'S3RVER' };
    const refused = new S3BlobStore({
      bucket: 'files',
      prefix: '',
      region: 'us-east-1',
      endpoint,
      credentials: unknown,
    });
    await expect(refused.put('a', Readable.from(['x']), png)).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    await refused.close();
  });

  it('whose server cuts every connection is unavailable, and the source is closed', async () => {
    const cutter = createServer((request) => request.socket.destroy()).listen(0, '127.0.0.1');
    await once(cutter, 'listening');
    const cut = open('files', `http://127.0.0.1:${(cutter.address() as AddressInfo).port}`);
    const source = Readable.from(['x']);
    await expect(cut.put('a', source, png)).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    expect(source.destroyed).toBe(true);
    await cut.close();
    cutter.close();
  });
});
