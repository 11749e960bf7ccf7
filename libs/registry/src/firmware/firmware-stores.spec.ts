import { randomUUID } from 'node:crypto';
import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { DeviceId } from '@flotilla/mcp';
import type { FirmwareImageRow, NewFirmwareImage } from './image-rows.js';
import { newContact, openProvisioning, type ProvisioningFixture } from '../provisioning/provisioning-fixture.suite.js';

let fixture: ProvisioningFixture;
beforeAll(async () => {
  fixture = await openProvisioning();
});
afterAll(() => fixture.close());

const images = () => fixture.registry.firmwareImages;
const downloads = () => fixture.registry.downloads;

function newImage(change: Partial<NewFirmwareImage> = {}): NewFirmwareImage {
  const id = v7();
  return {
    id,
    kind: 'FIRMWARE',
    fileName: 'xiaozhi.bin',
    project: 'xiaozhi',
    version: '2.5.0',
    chip: 'esp32s3',
    idfVersion: 'v5.5.2',
    sizeBytes: 1000,
    sha256: randomUUID(),
    elfSha256: 'ab'.repeat(32),
    storageKey: `firmware/${id}`,
    uploadedAt: 1_000,
    uploadedBy: 'ci',
    ...change,
  };
}

async function added(change: Partial<NewFirmwareImage> = {}): Promise<FirmwareImageRow> {
  return (await images().add(newImage(change))).image;
}

const publish = (image: { readonly id: string }, ...models: string[]) =>
  images().publish({ id: image.id, models, notes: undefined, at: 2_000 });

describe('firmware images', () => {
  it('are one for the same bytes, however often and wherever they are uploaded at once', async () => {
    const sha256 = randomUUID();
    const answers = await Promise.all(
      [fixture.registry, fixture.other].flatMap(({ firmwareImages }) =>
        [1, 2].map(() => firmwareImages.add(newImage({ sha256 }))),
      ),
    );
    expect(new Set(answers.map(({ image }) => image.id)).size).toBe(1);
    expect(answers.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect((await images().add(newImage({ sha256, kind: 'ASSETS' }))).isNew).toBe(true);
  });

  it('get from another upload what was not read from the first one, and keep the rest', async () => {
    const sha256 = randomUUID();
    const former = await added({ sha256, idfVersion: undefined, flashMode: 'dio' });
    const facts = { secureVersion: 3, minChipRevision: 102, secureBootKeys: ['ab'.repeat(32)] };
    const completed = { ...former, ...facts, idfVersion: 'v5.5.2' };
    expect(await added({ sha256, ...facts, flashMode: 'qio' })).toEqual(completed);
    expect(await added({ sha256, ...facts, secureVersion: 4, secureBootKeys: [] })).toEqual(completed);
  });

  it('page latest first', async () => {
    const [first, second] = [await added(), await added()];
    const page = await images().page({ first: 1 });
    expect(page).toMatchObject({ rows: [second], hasNextPage: true });
    expect((await images().page({ first: 1, after: page.cursors[0] ?? '' })).rows).toEqual([first]);
    const { version } = first;
    expect((await images().page({ first: 5 }, version)).rows.map((image) => image.version)).toContain(version);
    // As an image is written in the console.
    const written = `${first.project} ${version}`;
    expect((await images().page({ first: 5 }, written)).rows.map((image) => image.version)).toContain(version);
    expect((await images().page({ first: 5 }, `${version}%`)).rows).toEqual([]);
  });

  it('are published for boards, more and more of them', async () => {
    const image = await added({ version: '3.0.0' });
    expect(
      await images().publish({ id: image.id, models: ['box-b', 'box-a'], notes: 'Better sound', at: 2_000 }),
    ).toEqual({
      kind: 'published',
      image: { ...image, models: ['box-a', 'box-b'], notes: 'Better sound', publishedAt: 2_000 },
    });
    expect(await publish(image, 'box-c', 'box-a')).toMatchObject({
      image: { models: ['box-a', 'box-b', 'box-c'], notes: 'Better sound' },
    });
    expect(await images().find(image.id)).toMatchObject({ models: ['box-a', 'box-b', 'box-c'] });
    expect(await publish({ id: randomUUID() }, 'box-a')).toEqual({ kind: 'NOT_FOUND' });
  });

  it('are published for other boards in one step, or stay as they are', async () => {
    const [image, other] = [await added({ version: '3.0.1' }), await added({ version: '3.0.1' })];
    await publish(image, 'box-a', 'box-b');
    await publish(other, 'box-d');
    const replace = (...models: string[]) =>
      images().publish({ id: image.id, models, replacesModels: true, notes: undefined, at: 3_000 });
    expect(await replace('box-a', 'box-d')).toMatchObject({ kind: 'conflict', model: 'box-d' });
    expect(await images().find(image.id)).toMatchObject({ models: ['box-a', 'box-b'], publishedAt: 2_000 });
    expect(await replace('box-c', 'box-b')).toMatchObject({
      image: { models: ['box-b', 'box-c'], publishedAt: 3_000 },
    });
    expect(await publish(other, 'box-a')).toMatchObject({ kind: 'published' });
  });

  it('are one per board and version, all boards of a publication or none', async () => {
    const [first, second] = [await added({ version: '3.1.0' }), await added({ version: '3.1.0' })];
    await publish(first, 'lamp');
    expect(await publish(second, 'robot', 'lamp')).toMatchObject({
      kind: 'conflict',
      model: 'lamp',
      holder: { id: first.id },
    });
    expect(await images().find(second.id)).toMatchObject({ models: [] });
    const assets = await added({ version: '3.1.0', kind: 'ASSETS', chip: 'any' });
    expect(await publish(assets, 'lamp')).toMatchObject({ kind: 'published' });
  });

  it('never take a board halfway when two are published at once', async () => {
    const pair = await Promise.all([added({ version: '3.2.0' }), added({ version: '3.2.0' })]);
    const answers = await Promise.all(
      pair.map((image, index) => publish(image, ...(index === 0 ? ['a', 'b'] : ['b', 'a']))),
    );
    expect(answers.map(({ kind }) => kind).sort()).toEqual(['conflict', 'published']);
  });

  it('leave their boards when they are withdrawn, and may come back', async () => {
    const [bad, good] = [await added({ version: '3.3.0' }), await added({ version: '3.3.0' })];
    await publish(bad, 'clock');
    expect(await images().withdraw(bad.id, 5_000)).toMatchObject({ withdrawnAt: 5_000, models: [] });
    expect(await images().withdraw(bad.id, 6_000)).toMatchObject({ withdrawnAt: 5_000 });
    expect(await publish(good, 'clock')).toMatchObject({ kind: 'published' });
    expect(await publish(bad, 'other-clock')).toMatchObject({ image: { withdrawnAt: undefined } });
    expect(await images().withdraw(randomUUID(), 1)).toBeUndefined();
  });

  it('are not published for a board whose devices have another chip', async () => {
    const contact = newContact({
      model: 'c3-board',
      board: { chip: 'esp32c3', otaPartitions: 2, elfSha256: undefined },
    });
    await fixture.registry.enrolments.admit(contact);
    const image = await added({ version: '3.4.0' });
    expect(await publish(image, 'c3-board')).toEqual({ kind: 'foreign_chip', model: 'c3-board', chip: 'esp32c3' });
    expect(await publish(await added({ version: '3.4.0', kind: 'ASSETS', chip: 'any' }), 'c3-board')).toMatchObject({
      kind: 'published',
    });
    await fixture.registry.credentials.contacted({
      ...contact,
      board: { chip: 'esp32s3', otaPartitions: undefined, elfSha256: undefined },
    });
    await vi.waitFor(async () => expect(await publish(image, 'c3-board')).toMatchObject({ kind: 'published' }));
    expect(await fixture.sql(`SELECT chip, ota_partitions FROM device WHERE id = '${contact.deviceId}'`)).toEqual([
      { chip: 'esp32s3', ota_partitions: 2 },
    ]);
  });

  it('are removed only when nothing names them', async () => {
    const image = await added();
    await publish(image, 'radio');
    expect(await images().remove(image.id, 9_000)).toEqual({ kind: 'IN_USE' });
    await images().withdraw(image.id, 1);
    expect(await images().remove(image.id, 9_000)).toMatchObject({ kind: 'removed' });
    expect(await images().remove(image.id, 9_000)).toEqual({ kind: 'NOT_FOUND' });
    const fetched = await added();
    await downloads().add({
      id: v7(),
      imageId: fetched.id,
      deviceId: 'd' as DeviceId,
      jobId: randomUUID(),
      expiresAt: 1,
    });
    expect(await images().remove(fetched.id, 9_000)).toEqual({ kind: 'IN_USE' });
  });
});

describe('downloads', () => {
  const offered = async (image: FirmwareImageRow, deviceId = '02:00:00:00:00:01', expiresAt = 100_000) => {
    const download = { id: v7(), imageId: image.id, deviceId: deviceId as DeviceId, jobId: randomUUID(), expiresAt };
    await downloads().add(download);
    return download;
  };
  const served = (id: string, bytes: number, at: number, isComplete = false) =>
    downloads().progress({ id, requests: 1, bytes, isComplete, at });

  it('are found with their image and add up what was served', async () => {
    const image = await added();
    const download = await offered(image);
    await Promise.all([served(download.id, 400, 10_000), served(download.id, 600, 11_000, true)]);
    const expected = {
      ...download,
      requests: 2,
      bytesServed: 1000,
      startedAt: 10_000,
      lastByteAt: 11_000,
      completedAt: 11_000,
    };
    expect(await downloads().find(download.id)).toEqual({ download: expected, image });
    expect(await downloads().ofTargets([{ jobId: download.jobId, deviceId: download.deviceId }])).toEqual([expected]);
    expect(await downloads().find(randomUUID())).toBeUndefined();
    expect(await downloads().find('nonsense')).toBeUndefined();
  });

  it('count how often a device has fetched the same image', async () => {
    const image = await added();
    const [first, second] = [await offered(image, 'looping'), await offered(image, 'looping')];
    await served(first.id, 2000, 10_000, true);
    await served(second.id, 1999, 11_000, true);
    expect(await downloads().countWasted('looping', image.id, 9_000)).toBe(3);
    expect(await downloads().countWasted('looping', image.id, 10_500)).toBe(1);
    expect(await downloads().countWasted('another', image.id, 0)).toBe(0);
  });
});
