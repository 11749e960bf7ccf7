/** Downloads over a real socket, from a real folder, recorded in a real PostgreSQL. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { NO_PROCESS, openRegistry, type FirmwareImageRow, type Registry } from '@flotilla/registry';
import { openTestDatabase, type TestDatabase } from '@flotilla/registry/test-database';
import { openBlobStore, type BlobStore } from '@flotilla/storage';
import type { DeviceId, HubProcessId } from '@flotilla/mcp';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { UrlSigner } from '../device-urls/url-signer.js';
import { DeviceDownloads } from './device-downloads.js';

const bytes = Buffer.alloc(16_000_000, 'firmware ');
const device = '02:00:00:00:00:01' as DeviceId;
const serverId = randomUUID() as HubProcessId;
const signer = new UrlSigner('a secret of this hub');
const clock = {
  now: Date.now,
  setTimer: (delayMs: number, wake: () => void) => {
    const timer = setTimeout(wake, delayMs);
    return () => clearTimeout(timer);
  },
};
const feed = { publish: () => undefined };
const silent = { debug: () => undefined, warn: () => undefined, error: () => undefined };

let database: TestDatabase;
let registry: Registry;
let blobs: BlobStore;
let folder: string;
let image: FirmwareImageRow;
let downloads: DeviceDownloads;
let server: Server;
let base: string;

beforeAll(async () => {
  database = await openTestDatabase();
  registry = await openRegistry({ databaseUrl: database.databaseUrl });
  folder = await mkdtemp(path.join(tmpdir(), 'flotilla-downloads-'));
  blobs = await openBlobStore({ url: pathToFileURL(folder), s3: { region: '' }, isAlone: true });
  image = await keep();
  const limits = { downloadsMax: 2, stallTimeoutMs: 1_000, progressEveryMs: 20 };
  downloads = new DeviceDownloads({
    registry,
    feed,
    blobs,
    signer,
    serverId,
    limits,
    clock,
    logger: silent,
  });
  server = createServer((incoming, response) =>
    downloads.httpRoutes.find(({ method }) => method === incoming.method)?.handle(incoming, response),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await registry.close();
  await blobs.close();
  await database.close();
  await rm(folder, { recursive: true });
});

async function keep(): Promise<FirmwareImageRow> {
  const id = randomUUID();
  const storageKey = `firmware/${id}`;
  const kept = await blobs.put(storageKey, Readable.from([bytes]), {
    contentType: 'application/octet-stream',
    maxBytes: bytes.length,
  });
  const about = { project: 'xiaozhi', version: '2.5.0', chip: 'esp32s3', idfVersion: undefined, elfSha256: undefined };
  const file = { kind: 'FIRMWARE', fileName: 'a.bin', uploadedAt: 1, uploadedBy: 'spec' } as const;
  return (await registry.firmwareImages.add({ ...about, ...file, ...kept, id, storageKey, sha256: kept.sha256 })).image;
}

/** The URL that a job would give this device. */
async function offer({ of = image, to = device, expiresAt = Date.now() + 60_000 } = {}): Promise<{
  readonly id: string;
  readonly url: string;
}> {
  const id = randomUUID();
  await registry.downloads.add({ id, imageId: of.id, deviceId: to, jobId: randomUUID(), expiresAt });
  return { id, url: base + signer.pathOf({ purpose: 'download', id, expiresAt }) };
}

const rowOf = async (id: string) => (await registry.downloads.find(id))?.download;
const eventsOf = async (type: string, deviceId: string) =>
  (await registry.events.page({ types: [type], deviceId }, 'AT_ASC', { first: 100 })).rows.map(({ data }) => data);
const hashOf = (data: ArrayBuffer) => createHash('sha256').update(new Uint8Array(data)).digest('hex');

/** A request whose body is not read. */
function unread(url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => request(url, { agent: false }, resolve).on('error', reject).end());
}

describe('an image at its signed address', () => {
  it('is served whole, with its length, and the download is recorded', async () => {
    const { id, url } = await offer();
    const response = await fetch(url);
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-length': String(bytes.length),
      'accept-ranges': 'bytes',
      etag: `"${image.sha256}"`,
      'content-type': 'application/octet-stream',
    });
    expect(hashOf(await response.arrayBuffer())).toBe(image.sha256);
    await vi.waitFor(async () => expect((await rowOf(id))?.completedAt).toBeGreaterThan(0));
    expect(await rowOf(id)).toMatchObject({ requests: 1, bytesServed: bytes.length });
    await vi.waitFor(async () =>
      expect(await eventsOf('firmware.downloaded', device)).toMatchObject([{ downloadId: id, version: '2.5.0' }]),
    );
  });

  it('answers HEAD without bytes and without a download', async () => {
    const { id, url } = await offer();
    const response = await fetch(url, { method: 'HEAD' });
    expect([response.status, response.headers.get('content-length')]).toEqual([200, String(bytes.length)]);
    expect(await rowOf(id)).toMatchObject({ requests: 0, startedAt: undefined });
  });

  it.each([
    ['bytes=0-99', 206, 0, 99],
    ['bytes=15999990-', 206, 15_999_990, 15_999_999],
    ['bytes=-10', 206, 15_999_990, 15_999_999],
    ['bytes=-99999999', 206, 0, 15_999_999],
    ['bytes=10-99999999', 206, 10, 15_999_999],
    ['lines=1-2', 200, 0, 15_999_999],
    ['bytes=0-1,100-200', 200, 0, 15_999_999],
    ['nonsense', 200, 0, 15_999_999],
  ])('serves the range %s', async (range, status, start, end) => {
    const { url } = await offer();
    const response = await fetch(url, { headers: { range } });
    expect(response.status).toBe(status);
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes.subarray(start, end + 1))).toBe(true);
    expect(response.headers.get('content-range')).toBe(status === 206 ? `bytes ${start}-${end}/${bytes.length}` : null);
  });

  it('rejects a range beyond its end, and is served whole if the device had begun another image', async () => {
    const { url } = await offer();
    const beyond = await fetch(url, { headers: { range: 'bytes=16000000-' } });
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, 'bytes */16000000']);
    const other = await fetch(url, { headers: { range: 'bytes=10-20', 'if-range': '"another"' } });
    expect(other.status).toBe(200);
    await other.arrayBuffer();
    const same = await fetch(url, { headers: { range: 'bytes=10-20', 'if-range': `"${image.sha256}"` } });
    expect(same.status).toBe(206);
    await same.arrayBuffer();
  });

  it('is not found without a valid address', async () => {
    const { id, url } = await offer();
    const other = await offer({ to: '02:00:00:00:00:02' as DeviceId });
    const tokenOf = (address: string) => address.slice(address.lastIndexOf('.'));
    for (const wrong of [
      `${url}x`,
      url.replace(id, other.id),
      url.replace(tokenOf(url), tokenOf(other.url)),
      `${base}/t/download/`,
    ])
      expect((await fetch(wrong)).status).toBe(404);
    const strange = randomUUID();
    expect(
      (await fetch(base + signer.pathOf({ purpose: 'download', id: strange, expiresAt: Date.now() + 9_999 }))).status,
    ).toBe(404);
  });

  it('is gone after the address has expired or the image was withdrawn', async () => {
    const expired = await offer({ expiresAt: Date.now() - 1_000 });
    expect(await (await fetch(expired.url)).json()).toMatchObject({ code: 'GONE' });
    const withdrawn = await registry.firmwareImages.withdraw((await keepOther()).id, 1);
    const { url } = await offer({ of: withdrawn ?? image });
    expect((await fetch(url)).status).toBe(410);
  });

  it('is served to a limited number at once, as fast as each device reads', async () => {
    const offers = [await offer(), await offer(), await offer()];
    const [first, second] = await Promise.all(offers.slice(0, 2).map(({ url }) => unread(url)));
    expect(downloads.running).toBe(2);
    const refused = await fetch(offers[2]?.url ?? '');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30']);
    expect((await fetch(offers[2]?.url ?? '', { method: 'HEAD' })).status).toBe(200);
    first?.destroy();
    await vi.waitFor(() => expect(downloads.running).toBe(1));
    second?.resume();
    await vi.waitFor(() => expect(downloads.running).toBe(0));
    expect((await rowOf(offers[0]?.id ?? ''))?.completedAt).toBeUndefined();
    await vi.waitFor(async () => expect((await rowOf(offers[0]?.id ?? ''))?.bytesServed).toBeGreaterThan(0));
  });

  it('is not held for a device that stops reading', async () => {
    const { id, url } = await offer();
    const silentDevice = await unread(url);
    silentDevice.on('error', () => undefined);
    expect(downloads.running).toBe(1);
    await vi.waitFor(() => expect(downloads.running).toBe(0), 5_000);
    await vi.waitFor(async () => expect((await rowOf(id))?.bytesServed).toBeLessThan(bytes.length));
  });

  it('is hashed once for many downloads, and not served if the stored file differs', async () => {
    const own = await keep();
    let wholeReads = 0;
    const counting = {
      read: (key: string, range?: { readonly start: number; readonly end: number }) => {
        if (range === undefined) wholeReads += 1;
        return blobs.read(key, range);
      },
    };
    const corrupted = async () =>
      (await registry.events.page({ types: ['firmware.corrupt'] }, 'AT_ASC', { first: 100 })).rows.map(
        ({ data }) => data,
      );
    const part = new DeviceDownloads({
      registry,
      feed,
      signer,
      serverId,
      clock,
      logger: silent,
      blobs: counting,
    });
    const other = createServer((incoming, response) => part.httpRoutes[0]?.handle(incoming, response));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const statuses = async (count: number) => {
      const { url } = await offer({ of: own });
      const address = url.replace(base, `http://127.0.0.1:${(other.address() as AddressInfo).port}`);
      const answers = await Promise.all(Array.from({ length: count }, () => fetch(address)));
      return Promise.all(answers.map(async (answer) => (await answer.arrayBuffer(), answer.status)));
    };
    try {
      expect([await statuses(3), await statuses(2), wholeReads]).toEqual([[200, 200, 200], [200, 200], 1]);
      const file = path.join(folder, own.storageKey);
      await writeFile(file, Buffer.alloc(bytes.length, 'malware! '));
      // Size and times equal those of the original file.
      await utimes(file, 1, 1);
      expect([await statuses(3), await statuses(1), wholeReads]).toEqual([[500, 500, 500], [500], 2]);
      await vi.waitFor(async () =>
        expect(await corrupted()).toMatchObject([{ imageId: own.id, sha256: own.sha256, foundBytes: bytes.length }]),
      );
      await writeFile(file, bytes);
      expect([await statuses(1), wholeReads]).toEqual([[200], 3]);
    } finally {
      other.closeAllConnections();
      await new Promise((resolve) => other.close(resolve));
      await writeFile(path.join(folder, own.storageKey), bytes);
    }
  });

  it('reports a device that downloads it repeatedly', async () => {
    const looping = '02:00:00:00:00:0f' as DeviceId;
    const { id, url } = await offer({ to: looping });
    for (const times of [1, 2, 3]) {
      await (await fetch(url)).arrayBuffer();
      await vi.waitFor(async () => expect((await rowOf(id))?.requests).toBe(times));
    }
    await vi.waitFor(async () =>
      expect(await eventsOf('firmware.loop', looping)).toMatchObject([{ imageId: image.id, downloads: 3 }]),
    );
    expect(await eventsOf('firmware.downloaded', looping)).toHaveLength(3);
  });

  it('records its process first, and distinguishes a device that breaks off from a hub that stops', async () => {
    const recorded = vi.spyOn(registry.downloads, 'progress');
    const reportsOf = (id: string) => recorded.mock.calls.flatMap(([report]) => (report.id === id ? report : []));
    const { id, url } = await offer();
    (await unread(url)).destroy();
    await vi.waitFor(() => expect(reportsOf(id).at(-1)).toMatchObject({ isBrokenOff: true }));
    expect(reportsOf(id)[0]).toMatchObject({ serverId, requests: 1, bytes: 0 });
    const other = await offer();
    const response = await unread(other.url);
    downloads.stop();
    response.destroy();
    await vi.waitFor(() => expect(downloads.running).toBe(0));
    expect(reportsOf(other.id)[0]).toMatchObject({ serverId });
    expect(reportsOf(other.id).filter(({ isBrokenOff }) => isBrokenOff === true)).toEqual([]);
    recorded.mockRestore();
  });

  it('counts as cut by the hub if the storage fails in the middle', async () => {
    const failing = async function* (): AsyncGenerator<Buffer> {
      yield bytes.subarray(0, 1_000_000);
      throw new Error('The disk cannot be read.');
    };
    const read: BlobStore['read'] = async (key, range) => {
      const found = await blobs.read(key, range);
      if (found === undefined || range === undefined) return found;
      found.body.destroy();
      return { ...found, body: Readable.from(failing(), { objectMode: false }) };
    };
    const broken = new DeviceDownloads({ registry, feed, signer, serverId, clock, logger: silent, blobs: { read } });
    const other = createServer((incoming, response) => broken.httpRoutes[0]?.handle(incoming, response));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const recorded = vi.spyOn(registry.downloads, 'progress');
    try {
      const { id, url } = await offer();
      const address = url.replace(base, `http://127.0.0.1:${(other.address() as AddressInfo).port}`);
      await expect(fetch(address).then((answer) => answer.arrayBuffer())).rejects.toThrow();
      await vi.waitFor(() => expect(broken.counts()).toEqual([{ name: 'download_unavailable', count: 1 }]));
      const reports = recorded.mock.calls.flatMap(([report]) => (report.id === id ? report : []));
      expect(reports.at(-1)).toMatchObject({ bytes: 1_000_000, isComplete: false, serverId: NO_PROCESS });
      expect(reports.filter(({ isBrokenOff }) => isBrokenOff === true)).toEqual([]);
    } finally {
      recorded.mockRestore();
      other.closeAllConnections();
      await new Promise((resolve) => other.close(resolve));
    }
  });
});

/** Different bytes from `image`, because equal bytes are the same image. */
async function keepOther(): Promise<FirmwareImageRow> {
  const id = randomUUID();
  const { chip, fileName, kind, project, uploadedAt, uploadedBy } = image;
  const other = {
    chip,
    fileName,
    kind,
    project,
    uploadedAt,
    uploadedBy,
    version: '9.9.9',
    idfVersion: undefined,
    elfSha256: undefined,
  };
  return (
    await registry.firmwareImages.add({
      ...other,
      id,
      storageKey: `firmware/${id}`,
      sizeBytes: 1,
      sha256: randomUUID(),
    })
  ).image;
}
