import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import S3rver from 's3rver';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeBlobStore } from './blob-store.suite.js';
import { S3BlobStore } from './s3-blob-store.js';

let folder: string;
let server: S3rver;
let endpoint: string;
let store: S3BlobStore;

const credentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };
const SILENCE_MAX_MS = 200;
const open = (bucket: string, at = endpoint, silenceMaxMs?: number) =>
  new S3BlobStore({ bucket, prefix: 'hub/', region: 'us-east-1', endpoint: at, credentials, silenceMaxMs });
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

  it('waits for a reader that pauses, as boards do while they erase flash', async () => {
    // Longer than the server of this process may be delayed by other specs.
    const silenceMaxMs = 1_000;
    const patient = open('files', endpoint, silenceMaxMs);
    const bytes = Buffer.alloc(4_000_000, 'x');
    await store.put('slow', Readable.from([bytes]), { ...png, maxBytes: bytes.length });
    const blob = await patient.read('slow');
    const reader = blob?.body[Symbol.asyncIterator]();
    const first = (await reader?.next())?.value as Buffer;
    await pause(1.5 * silenceMaxMs);
    let read = first.length;
    for (let next = await reader?.next(); next && !next.done; next = await reader?.next())
      read += (next.value as Buffer).length;
    expect(read).toBe(bytes.length);
    await patient.close();
  });

  it('reads more files at once than a client has sockets by default', async () => {
    await store.put('shared', Readable.from([Buffer.alloc(1_000_000, 'x')]), { ...png, maxBytes: 1_000_000 });
    const blobs = await Promise.all(Array.from({ length: 60 }, () => store.read('shared')));
    expect(blobs.map((blob) => blob?.sizeBytes)).toEqual(Array<number>(60).fill(1_000_000));
    for (const blob of blobs) blob?.body.destroy();
  });

  it.each([
    ['in the middle of a file', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'],
    ['before a file', ''],
  ])('whose server hangs %s is unavailable', async (_when, answer) => {
    const hanging = createTcpServer((socket) => void socket.on('error', () => undefined).write(answer)).listen(
      0,
      '127.0.0.1',
    );
    await once(hanging, 'listening');
    const hung = open('files', `http://127.0.0.1:${(hanging.address() as AddressInfo).port}`, SILENCE_MAX_MS);
    await expect(hung.read('a').then((blob) => blob && buffer(blob.body))).rejects.toThrow(
      /sent nothing|requestTimeout/,
    );
    await hung.close();
    hanging.close();
  });
});
