import { mkdtemp, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { openRegistry } from '@flotilla/registry';
import type { Registry } from '@flotilla/registry';
import { openTestDatabase } from '@flotilla/registry/test-database';
import { imageKey, openBlobStore, pictureKey, thumbnailKey } from '@flotilla/storage';
import type { BlobStore } from '@flotilla/storage';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { realClock, silent } from '../fleet-fixture.suite.js';
import { UploadRetention } from './upload-retention.js';

const DAY_MS = 86_400_000;
let folder: string;
let blobs: BlobStore;
let registry: Registry;
let closeDatabase: () => Promise<void>;
let retention: UploadRetention;

/** Bytes under a key, last written to `ageMs` ago. */
async function blob(key: string, ageMs: number): Promise<void> {
  await blobs.put(key, Readable.from(['x']), { contentType: 'image/png', maxBytes: 1 });
  const at = new Date(Date.now() - ageMs);
  await utimes(path.join(folder, key), at, at);
}

async function upload(ageMs: number): Promise<string> {
  const id = registry.uploads.newId(Date.now() - ageMs);
  await blob(pictureKey(id), ageMs);
  await blob(thumbnailKey(id), ageMs);
  const about = { kind: 'IMAGE', contentType: 'image/png', sizeBytes: 1, sha256: 'aa' } as const;
  await registry.uploads.add({ id, deviceId: undefined, ...about, storageKey: pictureKey(id), question: undefined });
  await registry.uploads.setThumbnail(id, thumbnailKey(id));
  return id;
}

async function keys(): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { key } of blobs.list('')) found.push(key);
  return found.sort();
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'flotilla-retention-'));
  blobs = await openBlobStore({ url: pathToFileURL(folder), s3: { region: 'x' }, isAlone: true });
  const database = await openTestDatabase();
  registry = await openRegistry({ databaseUrl: database.databaseUrl });
  closeDatabase = () => database.close();
});

beforeEach(() => {
  retention = new UploadRetention({
    registry,
    uploads: registry.uploads,
    images: registry.firmwareImages,
    blobs,
    keptMs: 30 * DAY_MS,
    clock: realClock,
    logger: silent,
  });
});

afterAll(async () => {
  await registry.close();
  await closeDatabase();
  await rm(folder, { recursive: true });
});

describe('old uploads', () => {
  it('are removed with their bytes, and younger ones stay', async () => {
    const old = await upload(31 * DAY_MS);
    const young = await upload(29 * DAY_MS);
    await retention.run();
    expect(await registry.uploads.find(old)).toBeUndefined();
    expect(await registry.uploads.find(young)).toBeDefined();
    expect(await keys()).toEqual([pictureKey(young), thumbnailKey(young)].sort());
  });

  it('are those by the clock of PostgreSQL, if that of the process is ahead', async () => {
    const old = await upload(31 * DAY_MS);
    const young = await upload(29 * DAY_MS);
    const before = await keys();
    const { firmwareImages: images, uploads } = registry;
    const clock = { now: () => Date.now() + 3_650 * DAY_MS };
    const ahead = new UploadRetention({ registry, uploads, images, blobs, keptMs: 30 * DAY_MS, clock, logger: silent });
    await ahead.run();
    expect(await registry.uploads.find(young)).toBeDefined();
    const gone = [pictureKey(old), thumbnailKey(old)];
    expect(await keys()).toEqual(before.filter((key) => !gone.includes(key)));
  });

  it('keep their rows while their bytes cannot be removed', async () => {
    const old = await upload(31 * DAY_MS);
    const broken: BlobStore = {
      ...blobs,
      remove: () => Promise.reject(new TypeError('the store is away')),
      list: (prefix) => blobs.list(prefix),
    };
    const stuck = new UploadRetention({
      registry,
      uploads: registry.uploads,
      images: registry.firmwareImages,
      blobs: broken,
      keptMs: 30 * DAY_MS,
      clock: realClock,
      logger: silent,
    });
    await expect(stuck.run()).rejects.toThrow('away');
    expect(await registry.uploads.find(old)).toBeDefined();
    await retention.run();
    expect(await registry.uploads.find(old)).toBeUndefined();
  });
});

describe('bytes without a row', () => {
  it('are removed when no upload can still add their row, and only for uploads and images', async () => {
    const before = await keys();
    const lost = registry.uploads.newId(Date.now());
    const arriving = registry.uploads.newId(Date.now());
    await blob(pictureKey(lost), 2 * 3_600_000);
    await blob(thumbnailKey(lost), 2 * 3_600_000);
    await blob(pictureKey(arriving), 60_000);
    await blob(imageKey(lost), 2 * 3_600_000);
    await blob(imageKey(arriving), 60_000);
    await blob('other/thing', 2 * 3_600_000);
    const image = registry.uploads.newId(Date.now());
    await blob(imageKey(image), 2 * 3_600_000);
    const facts = {
      project: 'xiaozhi',
      version: '1.0.0',
      chip: 'esp32s3',
      idfVersion: undefined,
      sizeBytes: 1,
      elfSha256: undefined,
    };
    const file = {
      kind: 'FIRMWARE',
      fileName: 'x.bin',
      sha256: 'aa',
      storageKey: imageKey(image),
      uploadedAt: 1,
      uploadedBy: 'spec',
    } as const;
    await registry.firmwareImages.add({ ...facts, ...file, id: image });
    await retention.run();
    expect(await keys()).toEqual(
      [...before, pictureKey(arriving), imageKey(arriving), imageKey(image), 'other/thing'].sort(),
    );
  });
});
