/** The uploads of a hub over PostgreSQL and a folder, behind a plain HTTP server, for specs. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { openRegistry } from '@flotilla/registry';
import type { Registry } from '@flotilla/registry';
import { openTestDatabase } from '@flotilla/registry/test-database';
import { openBlobStore } from '@flotilla/storage';
import type { BlobStore } from '@flotilla/storage';
import { UrlSigner } from '../device-urls/url-signer.js';
import { realClock, silentLogger } from '../ingress.suite.js';
import { DeviceAddresses } from '../provisioning/device-addresses.js';
import { DeviceUploads } from './device-uploads.js';
import { ScreenPermits } from './screen-permits.js';
import type { VisionAnswerer } from './vision-answerer.js';

export interface UploadHub {
  readonly folder: string;
  readonly registry: Registry;
  readonly httpUrl: string;
  readonly signer: UrlSigner;
  readonly uploads: DeviceUploads;
  readonly permits: ScreenPermits;
  readonly events: readonly unknown[];
  /** The stored keys, without thumbnails, which earlier uploads may still be creating. */
  picturesKept(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export async function openUploadHub(answerer: VisionAnswerer): Promise<UploadHub> {
  const folder = await mkdtemp(path.join(tmpdir(), 'flotilla-uploads-'));
  const database = await openTestDatabase();
  const registry = await openRegistry({ databaseUrl: database.databaseUrl });
  await registry.takeLease();
  const blobs = await openBlobStore({ url: pathToFileURL(folder), s3: { region: 'x' }, isAlone: true });
  const signer = new UrlSigner('the secret of these specs');
  const server = createServer((request, response) => {
    const target = (request.url ?? '').split('?', 1)[0] ?? '';
    const route = uploads.httpRoutes.find(
      ({ method, path: known }) =>
        method === request.method && (known.endsWith('*') ? target.startsWith(known.slice(0, -1)) : known === target),
    );
    route?.handle(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const addresses = new DeviceAddresses({
    publicUrl: undefined,
    publicMqtt: undefined,
    isTls: false,
    fallbackHost: '127.0.0.1',
    httpPort: () => port,
    mqttPort: () => 1883,
  });
  const events: unknown[] = [];
  const uploads = new DeviceUploads({
    registry,
    blobs,
    signer,
    addresses,
    answerer,
    clock: realClock,
    logger: silentLogger,
    feed: { publish: (_topic, event) => void events.push(event) },
    limits: { silenceMaxMs: 400, visionTimeoutMs: 300, perDeviceMinuteMax: 4, surplusMaxMs: 1_000 },
  });
  return {
    folder,
    registry,
    signer,
    uploads,
    events,
    httpUrl: `http://127.0.0.1:${port}`,
    permits: new ScreenPermits(signer, addresses),
    picturesKept: () => picturesIn(blobs),
    close: async () => {
      await uploads.close();
      server.closeAllConnections();
      server.close();
      await registry.close();
      await database.close();
      await rm(folder, { recursive: true });
    },
  };
}

async function picturesIn(blobs: BlobStore): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { key } of blobs.list('uploads/')) if (!key.endsWith('.thumbnail')) names.push(key);
  return names;
}
