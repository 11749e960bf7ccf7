import { randomUUID } from 'node:crypto';
import type { DeviceId } from '@flotilla/mcp';
import { openRegistry, type FirmwareImageRow, type Registry } from '@flotilla/registry';
import { openTestDatabase, type TestDatabase } from '@flotilla/registry/test-database';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DownloadDesk } from './download-desk.js';

let database: TestDatabase;
let registry: Registry;
let image: FirmwareImageRow;
let now = 1_000_000_000_000;
const deviceId = '02:00:00:00:00:01' as DeviceId;
const jobId = randomUUID();
const hour = 3_600_000;

beforeAll(async () => {
  database = await openTestDatabase();
  registry = await openRegistry({ databaseUrl: database.databaseUrl });
  const about = {
    kind: 'FIRMWARE',
    project: 'xiaozhi',
    version: '2.5.0',
    chip: 'esp32s3',
    idfVersion: undefined,
    elfSha256: undefined,
  } as const;
  const file = { id: randomUUID(), fileName: 'a.bin', sizeBytes: 100, sha256: 's', storageKey: 'k', uploadedAt: now, uploadedBy: 'spec' };
  image = (await registry.firmwareImages.add({ ...about, ...file })).image;
});
afterAll(async () => {
  await registry.close();
  await database.close();
});

const deskOf = (downloadsMax: number) => new DownloadDesk({ registry, clock: { now: () => now }, limits: { downloadsMax } });

async function fetched(downloadId: string): Promise<void> {
  await registry.downloads.progress({ id: downloadId, requests: 1, bytes: 100, isComplete: true, at: now });
}

describe('DownloadDesk', () => {
  it('gives out places until each download is complete, expired or stalled', async () => {
    const desk = deskOf(2);
    const [first, second] = [await desk.grant({ image, deviceId, jobId }), await desk.grant({ image, deviceId: 'b' as DeviceId, jobId })];
    expect([first.kind, second.kind, await desk.freePlaces()]).toEqual(['granted', 'granted', 0]);
    if (first.kind === 'granted') await fetched(first.downloadId);
    expect(await desk.freePlaces()).toBe(1);
    now += hour;
    expect(await desk.freePlaces()).toBe(2);
  });

  it('does not send an image again and again to a device that does not keep it', async () => {
    const desk = deskOf(50);
    const looping = '02:00:00:00:00:0f' as DeviceId;
    for (let times = 0; times < 3; times += 1) {
      const grant = await desk.grant({ image, deviceId: looping, jobId });
      if (grant.kind === 'granted') await fetched(grant.downloadId);
    }
    expect(await desk.grant({ image, deviceId: looping, jobId })).toEqual({ kind: 'looping', downloads: 3 });
    expect(await desk.grant({ image, deviceId, jobId })).toMatchObject({ kind: 'granted' });
    now += 7 * hour;
    expect(await desk.grant({ image, deviceId: looping, jobId })).toMatchObject({ kind: 'granted' });
  });

  it('grants nothing of an image that was withdrawn', async () => {
    expect(await deskOf(1).grant({ image: { ...image, withdrawnAt: now }, deviceId, jobId })).toEqual({ kind: 'withdrawn' });
  });
});
