/** The composition root: opens the adapters that the roles need, joins them, and closes them in reverse order. It knows everything and decides nothing. */
import { fastify, type FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { mountApi } from '@flotilla/api';
import { openLocalBus, openRedisBus, type Bus } from '@flotilla/bus';
import { Fleet, Provisioning, TickWorker, ToolGate } from '@flotilla/fleet';
import { FleetSecretAuth, Gateway, OpenAuth } from '@flotilla/gateway';
import { openRegistry, startEmbeddedPostgres, type ProcessLease, type Registry } from '@flotilla/registry';
import { Closers } from './closers.js';
import type { HubConfig, Role } from './config.js';
import { startDemoFleet } from './demo-fleet.js';
import { inTime } from './in-time.js';
import { listening, listenMqtt, portOf } from './listeners.js';
import { measuredBus, measuredFleet } from './measured-calls.js';
import { createMetrics, type HubMetrics } from './metrics.js';
import { addOperationsRoutes, type MetricsAccess } from './operations-routes.js';
import { keepSecret, writeSecret } from './secret-file.js';
import { systemClock } from './system-clock.js';
import { routeUpgrades, type UpgradeHandler } from './upgrade-router.js';

/** The largest request body, bytes: a GraphQL document with a long list of device ids. */
const HTTP_BODY_BYTES_MAX = 1024 * 1024;

/** A request that has not arrived as a whole by then is dropped, ms. */
const HTTP_REQUEST_TIMEOUT_MS = 30_000;

/** The ports in use. `mqtt` and `udp` are there where this process is a gateway. */
export interface Ports {
  readonly http: number;
  readonly mqtt?: number;
  readonly udp?: number;
}

export interface RunningHub {
  readonly ports: Ports;
  /** Resolves when this process lost its lease: another may own its devices and jobs, so it must end. */
  readonly lost: Promise<void>;
  stop(): Promise<void>;
}

export interface HubOptions {
  readonly config: HubConfig;
  readonly logger: Logger;
  readonly withDemoFleet: boolean;
}

/** Starts the hub. A start that fails closes what it had opened, and rejects. */
export async function startHub(options: HubOptions): Promise<RunningHub> {
  const closers = new Closers(options.logger);
  try {
    return await open(options, closers);
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

/** What every role stands on. */
interface Ground {
  readonly options: HubOptions;
  readonly closers: Closers;
  readonly registry: Registry;
  readonly lease: ProcessLease;
  readonly bus: Bus;
  readonly has: (role: Role) => boolean;
}

async function open(options: HubOptions, closers: Closers): Promise<RunningHub> {
  const ground = await openGround(options, closers);
  const { config, logger } = options;
  const server = makeHttpServer(logger);
  closers.add('http server', () => server.close());
  const upgrades = new Map<string, UpgradeHandler>();
  const gateway = ground.has('gateway') ? await openGateway(ground, upgrades) : undefined;
  const metrics = measureParts(ground, gateway?.gateway);
  const gate = new ToolGate(config.deviceUrls);
  if (ground.has('api')) await openApi(ground, gate, metrics, { server, upgrades });
  if (ground.has('worker')) await openWorker(ground, gate, metrics);
  addOperationsRoutes(server, operationsOf(ground, metrics));
  await server.ready();
  routeUpgrades(server.server, upgrades);
  await listening('FLOTILLA_HTTP_PORT', config.host, config.httpPort, () =>
    server.listen({ host: config.host, port: config.httpPort, backlog: 4096 }),
  );
  // New connections are refused first; those that are open end with the part that they belong to.
  closers.add('http listener', () => void server.server.close());
  const ports: Ports = { http: portOf(server.server), ...(gateway && { mqtt: gateway.mqttPort, udp: gateway.gateway.udpPort }) };
  if (options.withDemoFleet && gateway) {
    const demo = startDemoFleet({
      host: config.host,
      httpPort: ports.http,
      mqttPort: gateway.mqttPort,
      deviceSecret: gateway.deviceSecret,
    });
    closers.add('demo fleet', demo.stop);
  }
  return { ports, lost: ground.lease.lost, stop: () => closers.closeAll() };
}

async function openGround(options: HubOptions, closers: Closers): Promise<Ground> {
  const { config, logger } = options;
  const databaseUrl = config.databaseUrl ?? (await openEmbedded(config, logger, closers));
  const registry = await openRegistry({ databaseUrl, logger, dataDir: config.dataDir });
  closers.add('registry', () => registry.close());
  // Nobody else can be on an embedded database: whatever processes its rows name are dead, however young their leases.
  const lease = await registry.takeLease({ aloneOnDatabase: config.databaseUrl === undefined });
  closers.add('lease', () => lease.release());
  await announceAdminKey(config, registry, logger);
  const bus = config.redisUrl ? await openRedisBus({ redisUrl: config.redisUrl, logger }) : await openLocalBus({ databaseUrl, logger });
  closers.add('bus', () => bus.close());
  return { options, closers, registry, lease, bus, has: (role) => config.roles.includes(role) };
}

async function openEmbedded(config: HubConfig, logger: Logger, closers: Closers): Promise<string> {
  const postgres = await startEmbeddedPostgres({ dataDir: config.dataDir });
  closers.add('embedded PostgreSQL', () => postgres.stop());
  if (postgres.notice) logger.info(postgres.notice);
  return postgres.databaseUrl;
}

/** The first start makes a key and says it once; on the embedded default a file keeps it. */
async function announceAdminKey(config: HubConfig, registry: Registry, logger: Logger): Promise<void> {
  const made = await registry.apiKeys.ensureAdminKey(config.adminKey);
  if (made === undefined || config.adminKey !== undefined) return;
  const file = config.databaseUrl === undefined ? await writeSecret(config.dataDir, 'admin.key', made) : undefined;
  logger.info(`Admin key, shown this once${file ? ` and kept in ${file}` : ''}: ${made}`);
}

function makeHttpServer(logger: Logger): FastifyInstance {
  const server = fastify({ bodyLimit: HTTP_BODY_BYTES_MAX, requestTimeout: HTTP_REQUEST_TIMEOUT_MS, forceCloseConnections: true });
  server.addHook('onError', (request, _reply, error, done) => {
    if ((error.statusCode ?? 500) >= 500)
      logger.error({ err: error, method: request.method, path: request.url.split('?', 1)[0] }, 'request failed');
    done();
  });
  return server;
}

interface OpenGateway {
  readonly gateway: Gateway;
  readonly mqttPort: number;
  readonly deviceSecret: string;
}

async function openGateway(
  { options, closers, registry, bus, lease }: Ground,
  upgrades: Map<string, UpgradeHandler>,
): Promise<OpenGateway> {
  const { config, logger } = options;
  const deviceSecret = config.deviceSecret ?? (await keepSecret(config.dataDir, 'device.secret'));
  const auth = config.deviceAuth === 'open' ? new OpenAuth() : new FleetSecretAuth({ secret: deviceSecret, clock: systemClock });
  const udp = { host: config.host, port: config.udpPort, publicHost: config.publicHost };
  const gateway = new Gateway({ gatewayId: lease.id, registry, bus, clock: systemClock, auth, udp, logger });
  await listening('FLOTILLA_UDP_PORT', config.host, config.udpPort, () => gateway.start());
  closers.add('gateway', () => gateway.stop());
  const unserve = await bus.calls.serve(lease.id, gateway.callServer);
  closers.add('call server', unserve);
  gateway.upgrades.forEach((handler, path) => upgrades.set(path, handler));
  const mqtt = await listening('FLOTILLA_MQTT_PORT', config.host, config.mqttPort, () =>
    listenMqtt(config.host, config.mqttPort, (socket) => gateway.acceptMqtt(socket)),
  );
  closers.add('MQTT listener', () => void mqtt.close());
  return { gateway, mqttPort: portOf(mqtt), deviceSecret };
}

interface HttpSide {
  readonly server: FastifyInstance;
  readonly upgrades: Map<string, UpgradeHandler>;
}

async function openApi(
  { options, closers, registry, bus }: Ground,
  gate: ToolGate,
  metrics: HubMetrics,
  { server, upgrades }: HttpSide,
): Promise<void> {
  const fleet = new Fleet({ registry, bus, clock: systemClock, logger: options.logger, gate });
  const provisioning = new Provisioning({ registry, bus, clock: systemClock, logger: options.logger });
  const operations = { fleet: measuredFleet(fleet, metrics), provisioning };
  const api = await mountApi(server, { registry, ...operations, feed: bus.feed, logger: options.logger });
  closers.add('api', () => api.close());
  api.upgrades.forEach((handler, path) => upgrades.set(path, handler));
}

async function openWorker({ options, closers, registry, bus, lease }: Ground, gate: ToolGate, metrics: HubMetrics): Promise<void> {
  const worker = new TickWorker({ registry, bus: measuredBus(bus, metrics), clock: systemClock, logger: options.logger, gate, lease });
  await worker.start();
  closers.add('worker', () => worker.stop());
}

function measureParts({ registry, bus }: Ground, gateway: Gateway | undefined): HubMetrics {
  return createMetrics({
    ...(gateway && { gateway: () => gateway.status() }),
    queueDepth: () => bus.ticks.depth(),
    writers: () => registry.writers(),
  });
}

function operationsOf({ registry }: Ground, metrics: HubMetrics): Parameters<typeof addOperationsRoutes>[1] {
  return {
    notReady: async () => ((await inTime(registry.ping(), false)) ? [] : ['PostgreSQL does not answer']),
    scrape: () => metrics.scrape(),
    metricsAccess: (key) => (key === undefined ? Promise.resolve('refused') : inTime(metricsAccess(registry, key), 'undecided')),
  };
}

async function metricsAccess({ apiKeys }: Pick<Registry, 'apiKeys'>, key: string): Promise<MetricsAccess> {
  const principal = await apiKeys.authenticate(key);
  return principal?.scopes.some((scope) => scope === 'ADMIN' || scope === 'EVENTS_READ') ? 'granted' : 'refused';
}
