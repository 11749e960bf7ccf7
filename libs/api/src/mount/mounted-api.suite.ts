/**
 * Shared by the specs of the mounted API: a server over a real registry and bus, keys, and devices.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import Fastify from 'fastify';
import { createClient, type Client } from 'graphql-ws';
import { WebSocket } from 'ws';
import { localBus, type EventFeed } from '@flotilla/bus';
import { noTicks } from '@flotilla/bus/no-ticks';
import {
  AgentGrants,
  defaultGrantLimits,
  Alerts,
  defaultSignInLimits,
  FirmwareImages,
  SigningKeys,
  People,
  Moving,
  Provisioning,
  SignIns,
  Webhooks,
} from '@flotilla/fleet';
import type { DeviceId, DeviceTool, ToolSetHash } from '@flotilla/mcp';
import { openTestDatabase } from '@flotilla/registry/test-database';
import {
  openRegistry,
  RegistryError,
  type Principal,
  type ProcessLease,
  type Registry,
  type Scope,
} from '@flotilla/registry';
import { openBlobStore, type BlobStore } from '@flotilla/storage';
import type { FleetOperations, PictureFiles } from '../fleet-operations.js';
import { noPictures, observed, refusingFleet, refusingScreens, silentLogger } from './api-stubs.suite.js';
import type { ApiLimits } from '../limits/api-limits.js';
import { mountApi } from './mount-api.js';
import { Argon2Passwords } from '../sign-in/argon2-passwords.js';

const noSender = { send: () => Promise.reject(new TypeError('Nothing is sent in this spec.')) };

interface Answer {
  readonly status: number;
  readonly data: unknown;
  readonly codes: readonly string[];
  readonly messages: readonly string[];
}

export interface OpenApi {
  readonly registry: Registry;
  readonly databaseUrl: string;
  readonly feed: EventFeed;
  readonly blobs: BlobStore;
  /** The registry's methods that were called, as `store.method`; emptied by the spec. */
  readonly lookups: string[];
  /** Makes the key invalid. */
  revoke(key: string): void;
  /** The registry can no longer look this key up. */
  hide(key: string, because?: Error): void;
  /** Takes all scopes from the key except this one. */
  narrow(key: string, scope: Scope): void;
  /** What was logged as an error. */
  readonly failures: unknown[];
  readonly httpUrl: string;
  readonly socketUrl: string;
  /** With a key of these scopes, ADMIN when not given. */
  ask(query: string, variables?: Readonly<Record<string, unknown>>, scopes?: readonly Scope[]): Promise<Answer>;
  post(body: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** A graphql-ws client that does not reconnect. */
  client(key: string): Client;
  /** An online device with these tools. */
  addDevice(id: string, tools?: readonly DeviceTool[]): Promise<void>;
  close(): Promise<void>;
}

export const adminKey = keyOf(['ADMIN']);

/** The key that has these scopes: in these specs a key says itself what it may do. */
export function keyOf(scopes: readonly Scope[]): string {
  return `key:${scopes.join(',')}`;
}

export function tool(name: string, userOnly = false): DeviceTool {
  return { name, description: `What ${name} does`, inputSchema: { type: 'object', properties: {} }, userOnly };
}

export async function openApi(
  fleet: Partial<FleetOperations> = {},
  limits: Partial<ApiLimits> = {},
  pictures: PictureFiles = noPictures,
): Promise<OpenApi> {
  const failures: unknown[] = [];
  const logger = silentLogger(failures);
  const database = await openTestDatabase();
  const registry = await openRegistry({ databaseUrl: database.databaseUrl, logger });
  const bus = localBus(noTicks, logger);
  const lease = await registry.takeLease();
  const folder = await mkdtemp(path.join(tmpdir(), 'flotilla-api-'));
  const blobs = await openBlobStore({ url: pathToFileURL(folder), s3: { region: '' }, isAlone: true });
  const lookups: string[] = [];
  const revoked = new Set<string>();
  const hidden = new Map<string, Error>();
  const narrowed = new Map<string, Scope>();
  const server = Fastify();
  const signing = { registry, bus, clock, logger, passwords: new Argon2Passwords(), limits: defaultSignInLimits };
  const api = await mountApi(server, {
    registry: {
      ...observed(registry, lookups),
      apiKeys: {
        authenticate: async (key) => {
          const fault = hidden.get(key);
          if (fault) throw fault;
          const principal = revoked.has(key) ? undefined : principalOf(key);
          const scope = narrowed.get(key);
          return principal !== undefined && scope !== undefined ? { ...principal, scopes: [scope] } : principal;
        },
        ensureAdminKey: async () => undefined,
        forget: () => registry.apiKeys.forget(),
        create: (...key) => registry.apiKeys.create(...key),
        all: () => registry.apiKeys.all(),
        revoke: (...key) => registry.apiKeys.revoke(...key),
      },
    },
    fleet: { ...refusingFleet, ...fleet },
    provisioning: new Provisioning({ registry, bus, clock, logger }),
    moving: new Moving({ registry, bus, clock, hasFormerServer: false }),
    firmware: new FirmwareImages({ registry, bus, blobs, clock, logger }),
    signingKeys: new SigningKeys({ registry, clock }),
    screens: refusingScreens,
    alerts: new Alerts({
      registry,
      bus,
      clock,
      trustedOrigins: [],
      sender: { ...noSender, sendsMail: false },
      messages: { language: 'en', timeZone: 'UTC', consoleUrl: undefined },
    }),
    webhooks: new Webhooks({ registry, clock, announce: () => undefined, sender: noSender, trustedOrigins: [] }),
    people: new People(signing),
    signIns: new SignIns(signing),
    grants: new AgentGrants({ registry, bus, clock, limits: defaultGrantLimits }),
    fetchDocument: () => Promise.reject(new Error('No document is fetched in this spec.')),
    pictures,
    timeZone: 'UTC',
    deviceSettings: {
      describeCredential: ({ credential, transport }) => ({ transport, password: credential.secret }),
      otaUrl: (token) => `http://hub.test/ota/${token}/`,
    },
    feed: bus.feed,
    logger,
    limits,
  });
  server.server.on('upgrade', (request, socket, head) => api.upgrades.get(request.url ?? '')?.(request, socket, head));
  const httpUrl = await server.listen({ host: '127.0.0.1', port: 0 });
  const socketUrl = `ws://127.0.0.1:${(server.server.address() as AddressInfo).port}/graphql`;
  const post = (body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
    postTo(`${httpUrl}/graphql`, body, headers);
  return {
    registry,
    databaseUrl: database.databaseUrl,
    feed: bus.feed,
    blobs,
    lookups,
    failures,
    revoke: (key) => void revoked.add(key),
    hide: (key, because = new RegistryError('DATABASE_UNAVAILABLE', 'PostgreSQL is away.')) =>
      void hidden.set(key, because),
    narrow: (key, scope) => void narrowed.set(key, scope),
    httpUrl,
    socketUrl,
    post,
    ask: (query, variables, scopes = ['ADMIN']) =>
      post({ query, variables }, { authorization: `Bearer ${keyOf(scopes)}` }),
    client: (key) =>
      createClient({
        url: socketUrl,
        webSocketImpl: WebSocket,
        connectionParams: { authorization: `Bearer ${key}` },
        retryAttempts: 0,
      }),
    addDevice: (id, tools = [tool('self.get_device_status')]) => addDevice(registry, lease, id, tools),
    close: async () => {
      await api.close();
      await server.close();
      await bus.close();
      await lease.release();
      await registry.close();
      await blobs.close();
      await rm(folder, { recursive: true });
      await database.close();
    },
  };
}

async function addDevice(
  registry: Registry,
  lease: ProcessLease,
  id: string,
  tools: readonly DeviceTool[],
): Promise<void> {
  const deviceId = id as DeviceId;
  const hash = Buffer.from(tools.map(({ name }) => name).join())
    .toString('hex')
    .padEnd(64, '0')
    .slice(0, 64) as ToolSetHash;
  await registry.toolSets.ensure({ hash, tools: tools.map((each) => ({ ...each, schemaKnown: true })) });
  const at = Date.now();
  const { epoch } = await registry.devices.connect({
    deviceId,
    dialect: 'XIAOZHI',
    transport: 'MQTT',
    reachability: 'ALWAYS',
    remoteAddress: '127.0.0.1',
    connectedAt: at,
  });
  const session = {
    deviceId,
    epoch,
    gatewayId: lease.id,
    model: 'esp-box-3',
    firmwareVersion: '1.8.0',
    toolSetHash: hash,
    toolsComplete: true,
    at,
  };
  await registry.devices.ready(session);
}

async function postTo(url: string, body: unknown, headers: Readonly<Record<string, string>>): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const { data, errors = [] } = (await response.json()) as {
    readonly data?: unknown;
    readonly errors?: readonly { readonly message: string; readonly extensions: { readonly code: string } }[];
  };
  return {
    status: response.status,
    data,
    codes: errors.map(({ extensions }) => extensions.code),
    messages: errors.map(({ message }) => message),
  };
}

function principalOf(key: string): Principal | undefined {
  const scopes = /^key:(.*)$/.exec(key)?.[1];
  return scopes === undefined
    ? undefined
    : { kind: 'KEY', id: key, name: key, scopes: scopes.split(',').filter(Boolean) as Scope[] };
}

const clock = {
  now: Date.now,
  setTimer: (delayMs: number, wake: () => void) => {
    const timer = setTimeout(wake, delayMs);
    return () => clearTimeout(timer);
  },
};
