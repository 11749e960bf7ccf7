/** Uploads into a real PostgreSQL and a real folder. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { openRegistry, type Registry } from '@flotilla/registry';
import { openTestDatabase, type TestDatabase } from '@flotilla/registry/test-database';
import { openBlobStore, type BlobStore } from '@flotilla/storage';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admin, realClock, silent } from '../fleet-fixture.suite.js';
import { FirmwareImages } from './firmware-images.js';

let database: TestDatabase;
let registry: Registry;
let blobs: BlobStore;
let folder: string;
let images: FirmwareImages;

beforeAll(async () => {
  database = await openTestDatabase();
  registry = await openRegistry({ databaseUrl: database.databaseUrl });
  folder = await mkdtemp(path.join(tmpdir(), 'flotilla-images-'));
  blobs = await openBlobStore({ url: pathToFileURL(folder), s3: { region: '' }, isAlone: true });
  const bus = { feed: { publish: () => undefined } };
  images = new FirmwareImages({ registry, bus, blobs, clock: realClock, logger: silent });
});
afterAll(async () => {
  await blobs.close();
  await registry.close();
  await database.close();
  await rm(folder, { recursive: true });
});

async function upload(text: string) {
  const body = Readable.from([Buffer.from(text)]);
  const answer = await images.upload({ kind: 'ASSETS', fileName: 'fonts.bin', version: '1.2.0', body }, admin);
  if ('refusal' in answer) throw new TypeError(answer.refusal.message);
  return answer.image;
}

describe('another upload of a file', () => {
  it('is the same image, and is stored once', async () => {
    const image = await upload('fonts');
    expect(await upload('fonts')).toEqual(image);
    expect(await readdir(path.join(folder, 'firmware'))).toEqual([image.id]);
  });

  it.each([
    ['damaged', (file: string) => writeFile(file, 'malware')],
    ['lost', (file: string) => rm(file)],
  ])('brings back the stored one that was %s', async (name, harm) => {
    const image = await upload(`fonts, ${name}`);
    const file = path.join(folder, image.storageKey);
    await harm(file);
    expect((await upload(`fonts, ${name}`)).id).toBe(image.id);
    expect(await readFile(file, 'utf8')).toBe(`fonts, ${name}`);
  });
});
