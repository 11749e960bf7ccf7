import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { openBlobStore, storageUrlProblem } from './open-blob-store.js';

it.each([
  'file:///var/lib/flotilla',
  'file:///processes',
  's3://bucket',
  's3://my.bucket/some/prefix/',
  's3://bucket/100%25',
])('takes %s', (url) => {
  expect(storageUrlProblem(url)).toBeUndefined();
});

it.each([
  'files',
  'https://bucket',
  's3://',
  's3://B',
  's3://b?x=1',
  's3://key:secret@bucket',
  'file://host/share',
  's3://bucket:9000/x',
  's3://bucket/100%',
])('rejects %s with the rule', (url) => {
  expect(storageUrlProblem(url)).toContain('s3://bucket');
});

it.each(['file:///proc', 'file:///proc/files', 'file:///var/../proc/files', 'file:///%70roc/files', 'file:////proc'])(
  'rejects %s, where no folder can be made',
  (url) => expect(storageUrlProblem(url)).toContain('not below /proc'),
);

it('opens the folder of a file URL', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'flotilla url '));
  const store = await openBlobStore({
    url: pathToFileURL(path.join(folder, 'files')),
    s3: { region: 'x' },
    isAlone: true,
  });
  expect(await store.put('a', Readable.from(['x']), { contentType: 'text/plain', maxBytes: 1 })).toMatchObject({
    sizeBytes: 1,
  });
  await rm(folder, { recursive: true });
});

it('opens a bucket without a request', async () => {
  const store = await openBlobStore({
    url: new URL('s3://bucket/a/b/'),
    s3: { region: 'eu-central-1' },
    isAlone: false,
  });
  await store.close();
});

it('refuses an escaped slash, which no folder can have in its name', () => {
  expect(storageUrlProblem('file:///var%2Ffiles')).toContain('must be file:///folder');
});
