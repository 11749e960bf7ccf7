/** What a device gets at the signed address of an image, and what is recorded of it. */
import { createHash, randomUUID } from 'node:crypto';
import { utimes, writeFile } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import path from 'node:path';
import { Readable } from 'node:stream';
import type { DeviceId } from '@flotilla/mcp';
import { NO_PROCESS, type FirmwareImageRow } from '@flotilla/registry';
import type { BlobStore } from '@flotilla/storage';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { DeviceDownloads } from './device-downloads.js';
import { bytes, device, DownloadBench, serverId, signer, type ServedDownloads } from './download-bench.suite.js';

let bench: DownloadBench;
let image: FirmwareImageRow;
let served: ServedDownloads;
let downloads: DeviceDownloads;
let base: string;

beforeAll(async () => {
  bench = await DownloadBench.open();
  image = await bench.keep();
  served = await bench.serve({ limits: { downloadsMax: 2, stallTimeoutMs: 1_000, progressEveryMs: 20 } });
  ({ downloads, base } = served);
});
afterAll(async () => {
  await served.close();
  await bench.close();
});

/** The URL that a job would give this device. */
async function offer({ of = image, to = device, expiresAt = Date.now() + 60_000 } = {}): Promise<{
  readonly id: string;
  readonly url: string;
}> {
  const id = randomUUID();
  await bench.registry.downloads.add({ id, imageId: of.id, deviceId: to, jobId: randomUUID(), expiresAt });
  return { id, url: base + signer.pathOf({ purpose: 'download', id, expiresAt }) };
}

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
    await vi.waitFor(async () => expect((await bench.rowOf(id))?.completedAt).toBeGreaterThan(0));
    expect(await bench.rowOf(id)).toMatchObject({ requests: 1, bytesServed: bytes.length });
    await vi.waitFor(async () =>
      expect(await bench.eventsOf('firmware.downloaded', device)).toMatchObject([{ downloadId: id, version: '2.5.0' }]),
    );
  });

  it('answers HEAD without bytes and without a download', async () => {
    const { id, url } = await offer();
    const response = await fetch(url, { method: 'HEAD' });
    expect([response.status, response.headers.get('content-length')]).toEqual([200, String(bytes.length)]);
    expect(await bench.rowOf(id)).toMatchObject({ requests: 0, startedAt: undefined });
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
    const withdrawn = await bench.registry.firmwareImages.withdraw((await bench.keepOther()).id, 1);
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
    expect((await bench.rowOf(offers[0]?.id ?? ''))?.completedAt).toBeUndefined();
    await vi.waitFor(async () => expect((await bench.rowOf(offers[0]?.id ?? ''))?.bytesServed).toBeGreaterThan(0));
  });

  it('is not held for a device that stops reading', async () => {
    const { id, url } = await offer();
    const silentDevice = await unread(url);
    silentDevice.on('error', () => undefined);
    expect(downloads.running).toBe(1);
    await vi.waitFor(() => expect(downloads.running).toBe(0), 5_000);
    await vi.waitFor(async () => expect((await bench.rowOf(id))?.bytesServed).toBeLessThan(bytes.length));
  });

  it('is hashed once for many downloads, and not served if the stored file differs', async () => {
    const own = await bench.keep();
    let wholeReads = 0;
    const counting = {
      read: (key: string, range?: { readonly start: number; readonly end: number }) => {
        if (range === undefined) wholeReads += 1;
        return bench.blobs.read(key, range);
      },
    };
    const other = await bench.serve({ blobs: counting });
    const statuses = async (count: number) => {
      const { url } = await offer({ of: own });
      const address = url.replace(base, other.base);
      const answers = await Promise.all(Array.from({ length: count }, () => fetch(address)));
      return Promise.all(answers.map(async (answer) => (await answer.arrayBuffer(), answer.status)));
    };
    try {
      expect([await statuses(3), await statuses(2), wholeReads]).toEqual([[200, 200, 200], [200, 200], 1]);
      const file = path.join(bench.folder, own.storageKey);
      await writeFile(file, Buffer.alloc(bytes.length, 'malware! '));
      // Size and times equal those of the original file.
      await utimes(file, 1, 1);
      expect([await statuses(3), await statuses(1), wholeReads]).toEqual([[500, 500, 500], [500], 2]);
      await vi.waitFor(async () =>
        expect(await bench.eventsOf('firmware.corrupt')).toMatchObject([
          { imageId: own.id, sha256: own.sha256, foundBytes: bytes.length },
        ]),
      );
      await writeFile(file, bytes);
      expect([await statuses(1), wholeReads]).toEqual([[200], 3]);
    } finally {
      await other.close();
      await writeFile(path.join(bench.folder, own.storageKey), bytes);
    }
  });

  it('reports a device that downloads it repeatedly', async () => {
    const looping = '02:00:00:00:00:0f' as DeviceId;
    const { id, url } = await offer({ to: looping });
    for (const times of [1, 2, 3]) {
      await (await fetch(url)).arrayBuffer();
      await vi.waitFor(async () => expect((await bench.rowOf(id))?.requests).toBe(times));
    }
    await vi.waitFor(async () =>
      expect(await bench.eventsOf('firmware.loop', looping)).toMatchObject([{ imageId: image.id, downloads: 3 }]),
    );
    expect(await bench.eventsOf('firmware.downloaded', looping)).toHaveLength(3);
  });

  it('records its process first, and distinguishes a device that breaks off from a hub that stops', async () => {
    const recorded = vi.spyOn(bench.registry.downloads, 'progress');
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
      const found = await bench.blobs.read(key, range);
      if (found === undefined || range === undefined) return found;
      found.body.destroy();
      return { ...found, body: Readable.from(failing(), { objectMode: false }) };
    };
    const other = await bench.serve({ blobs: { read } });
    const recorded = vi.spyOn(bench.registry.downloads, 'progress');
    try {
      const { id, url } = await offer();
      const address = url.replace(base, other.base);
      await expect(fetch(address).then((answer) => answer.arrayBuffer())).rejects.toThrow();
      await vi.waitFor(() => expect(other.downloads.counts()).toEqual([{ name: 'download_unavailable', count: 1 }]));
      const reports = recorded.mock.calls.flatMap(([report]) => (report.id === id ? report : []));
      expect(reports.at(-1)).toMatchObject({ bytes: 1_000_000, isComplete: false, serverId: NO_PROCESS });
      expect(reports.filter(({ isBrokenOff }) => isBrokenOff === true)).toEqual([]);
    } finally {
      recorded.mockRestore();
      await other.close();
    }
  });
});
