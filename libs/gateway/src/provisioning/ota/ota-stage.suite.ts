/**
 * The test bench of the OTA endpoint: the endpoint on a real PostgreSQL, and boards that send
 * requests.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { localBus } from '@flotilla/bus';
import type { Bus, FeedEvent } from '@flotilla/bus';
import { noTicks } from '@flotilla/bus/no-ticks';
import type { DeviceId } from '@flotilla/mcp';
import { openRegistry } from '@flotilla/registry';
import type { Registry } from '@flotilla/registry';
import { openTestDatabase } from '@flotilla/registry/test-database';
import type { TestDatabase } from '@flotilla/registry/test-database';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { realClock, silentLogger } from '../../ingress.suite.js';
import { DeviceAddresses } from '../device-addresses.js';
import type { OtaProvisioningOptions } from '../ota-provisioning.js';
import { OtaProvisioning } from '../ota-provisioning.js';

export const uuid = '3b0c5b1e-6a43-4f0e-9a44-0d6a5f0c8e21';
export const otherUuid = '00000000-0000-4000-8000-000000000000';

export interface Asked {
  readonly path?: string;
  readonly client?: string | undefined;
  readonly body?: string;
  readonly method?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: {
    readonly mqtt?: Readonly<Record<string, unknown>>;
    readonly websocket?: Readonly<Record<string, unknown>>;
    readonly activation?: { readonly code: string; readonly challenge: string };
    readonly firmware?: unknown;
    readonly server_time?: unknown;
    readonly code?: string;
  };
}

/** Set before each test. */
export const stage = {} as { registry: Registry; bus: Bus; events: FeedEvent[] };

let nextMac = 0;
const closers: (() => unknown)[] = [];

/** Each spec file calls it once: a database for the file, a registry for each test. */
export function setUpStage(): void {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase();
    stage.bus = localBus(noTicks, silentLogger);
    stage.bus.feed.subscribe('event', (event) => stage.events.push(event));
  });
  afterAll(async () => {
    await stage.bus.close();
    await database.close();
  });
  beforeEach(async () => {
    stage.events = [];
    const registry = await openRegistry({ databaseUrl: database.databaseUrl });
    stage.registry = registry;
    closers.push(() => registry.close());
  });
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });
}

/** Tests share a database, so each uses its own devices. */
export function newMac(): DeviceId {
  nextMac += 1;
  return `02:00:00:00:01:${nextMac.toString(16).padStart(2, '0')}` as DeviceId;
}

export async function openEndpoint(change: Partial<OtaProvisioningOptions> = {}): Promise<number> {
  const http = createServer().listen(0, '127.0.0.1');
  await once(http, 'listening');
  closers.push(() => http.close());
  const { port } = http.address() as AddressInfo;
  const addresses = new DeviceAddresses({
    publicUrl: undefined,
    publicMqtt: undefined,
    isTls: false,
    fallbackHost: '127.0.0.1',
    httpPort: () => port,
    mqttPort: () => 1883,
  });
  const { bus, registry } = stage;
  const provisioning = new OtaProvisioning({
    registry,
    bus,
    mode: 'approve',
    clock: realClock,
    logger: silentLogger,
    settings: { addresses, publishTopic: 'device-server', timeZone: 'Europe/Berlin' },
    ...change,
  });
  await provisioning.start();
  const [route] = provisioning.httpRoutes;
  http.on('request', (request, response) => route?.handle(request, response));
  return port;
}

/** No rate limit refills, and all times are in one minute. */
export function stoppedClock(): typeof realClock {
  const at = Date.now();
  return { ...realClock, now: () => at };
}

export async function ask(
  port: number,
  mac: string,
  { path = '/ota/', client = uuid, body = '{}', method = 'POST' }: Asked = {},
): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: {
      'device-id': mac,
      'client-id': client,
      'user-agent': 'lichuang-dev/2.4.2',
      'content-type': 'application/json',
    },
    ...(method === 'POST' && { body }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) as Answer['body'] };
}
