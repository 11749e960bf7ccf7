/** Downloads of an image over a real socket, from a real folder, recorded in a real PostgreSQL. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import type { DeviceId, HubProcessId } from '@flotilla/mcp';
import { openRegistry, type FirmwareImageRow, type Registry } from '@flotilla/registry';
import { openTestDatabase, type TestDatabase } from '@flotilla/registry/test-database';
import { openBlobStore, type BlobStore } from '@flotilla/storage';
import { UrlSigner } from '../device-urls/url-signer.js';
import { DeviceDownloads, type DeviceDownloadsOptions } from './device-downloads.js';

export const bytes = Buffer.alloc(16_000_000, 'firmware ');
export const device = '02:00:00:00:00:01' as DeviceId;
export const serverId = randomUUID() as HubProcessId;
export const signer = new UrlSigner('a secret of this hub');
const clock = {
  now: Date.now,
  setTimer: (delayMs: number, wake: () => void) => {
    const timer = setTimeout(wake, delayMs);
    return () => clearTimeout(timer);
  },
};
const feed = { publish: () => undefined };
const silent = { debug: () => undefined, warn: () => undefined, error: () => undefined };

/** Downloads and the port that serves them. */
export interface ServedDownloads {
  readonly downloads: DeviceDownloads;
  readonly base: string;
  close(): Promise<void>;
}

export class DownloadBench {
  private constructor(
    private readonly database: TestDatabase,
    readonly registry: Registry,
    readonly folder: string,
    readonly blobs: BlobStore,
  ) {}

  static async open(): Promise<DownloadBench> {
    const database = await openTestDatabase();
    const registry = await openRegistry({ databaseUrl: database.databaseUrl });
    const folder = await mkdtemp(path.join(tmpdir(), 'flotilla-downloads-'));
    const blobs = await openBlobStore({ url: pathToFileURL(folder), s3: { region: '' }, isAlone: true });
    return new DownloadBench(database, registry, folder, blobs);
  }

  async close(): Promise<void> {
    await this.registry.close();
    await this.blobs.close();
    await this.database.close();
    await rm(this.folder, { recursive: true });
  }

  async serve(options: Partial<DeviceDownloadsOptions> = {}): Promise<ServedDownloads> {
    const { registry, blobs } = this;
    const downloads = new DeviceDownloads({
      registry,
      feed,
      blobs,
      signer,
      serverId,
      clock,
      logger: silent,
      ...options,
    });
    const server = createServer((incoming, response) =>
      downloads.httpRoutes.find(({ method }) => method === incoming.method)?.handle(incoming, response),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return { downloads, base, close: () => closed(server) };
  }

  async keep(): Promise<FirmwareImageRow> {
    const id = randomUUID();
    const storageKey = `firmware/${id}`;
    const kept = await this.blobs.put(storageKey, Readable.from([bytes]), {
      contentType: 'application/octet-stream',
      maxBytes: bytes.length,
    });
    const { firmwareImages } = this.registry;
    const row = { ...about, version: '2.5.0', ...kept, id, storageKey, sha256: kept.sha256 };
    return (await firmwareImages.add(row)).image;
  }

  /** Different bytes, because equal bytes are the same image. */
  async keepOther(): Promise<FirmwareImageRow> {
    const id = randomUUID();
    const { firmwareImages } = this.registry;
    const row = { ...about, version: '9.9.9', id, storageKey: `firmware/${id}`, sizeBytes: 1, sha256: randomUUID() };
    return (await firmwareImages.add(row)).image;
  }

  async rowOf(id: string) {
    return (await this.registry.downloads.find(id))?.download;
  }

  async eventsOf(type: string, deviceId?: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const filter = { types: [type], ...(deviceId !== undefined && { deviceId }) };
    return (await this.registry.events.page(filter, 'AT_ASC', { first: 100 })).rows.map(({ data }) => data);
  }
}

const about = {
  project: 'xiaozhi',
  chip: 'esp32s3',
  idfVersion: undefined,
  elfSha256: undefined,
  kind: 'FIRMWARE',
  fileName: 'a.bin',
  uploadedAt: 1,
  uploadedBy: 'spec',
} as const;

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
