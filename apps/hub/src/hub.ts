/** The composition root: opens the adapters that the roles need, joins them, and closes them in reverse order. It knows everything and decides nothing. */
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { FailedAttempts, mountApi, type DeviceSettings } from '@flotilla/api';
import {
  announceDebts,
  FirmwareImages,
  Fleet,
  observeJobCalls,
  Provisioning,
  RecordRetention,
  ScreenPictures,
  SigningKeys,
  TickWorker,
  ToolGate,
  UploadRetention,
  WebhookDeliveries,
  Webhooks,
} from '@flotilla/fleet';
import { Closers } from './closers.js';
import type { HubConfig } from './settings/config.js';
import { closeDataFolder } from './data-folder.js';
import { startDemoFleet } from './demo-fleet.js';
import { DeviceRoutes } from './http/device-routes.js';
import { withDemoNetworks } from './settings/dial-settings.js';
import { deviceAddresses, deviceSettings } from './settings/device-settings.js';
import { openGround, type Ground } from './roles/ground.js';
import { makeHttpServer } from './http/http-server.js';
import { inTime } from './in-time.js';
import { listening, portOf } from './roles/listeners.js';
import { createMetrics, type HubMetrics } from './measures/metrics.js';
import { openGateway, type OpenGateway } from './roles/open-gateway.js';
import { openPeople } from './roles/open-people.js';
import { openPictures, pictureFiles, type OpenPictures } from './roles/open-pictures.js';
import { readQueryRules } from './settings/query-settings.js';
import { rolloutLimits } from './settings/rollout-limits.js';
import { keepSecret } from './settings/secret-file.js';
import { TrustedProxies } from './http/trusted-proxies.js';
import { MetricsKeys } from './http/metrics-keys.js';
import { onceASecond } from './http/ready-check.js';
import { addOperationsRoutes } from './http/operations-routes.js';
import { systemClock } from './system-clock.js';
import { TlsFiles } from './http/tls-files.js';
import { routeUpgrades, type UpgradeHandler } from './http/upgrade-router.js';

/** The ports in use. `udp` and, unless it is off, `mqtt` are there where this process is a gateway, `mqtts` where it has a certificate besides. */
export interface Ports {
  readonly http: number;
  readonly mqtt?: number;
  readonly mqtts?: number;
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

const DAY_MS = 86_400_000;

/** Beside `src` and `dist` alike. */
const consoleFolder = fileURLToPath(new URL('../../dashboard/dist', import.meta.url));

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

async function open(options: HubOptions, closers: Closers): Promise<RunningHub> {
  const { logger } = options;
  const config = options.withDemoFleet ? withDemoNetworks(options.config) : options.config;
  const tls = config.tls && new TlsFiles({ ...config.tls, logger });
  if (tls) closers.add('TLS files', () => tls.close());
  await closeDataFolder(config, logger);
  const ground = await openGround({ config, logger }, closers);
  // Whatever this process does: most events are those of gateways.
  ground.registry.events.whenOwed(announceDebts({ ticks: ground.bus.ticks, clock: systemClock, logger }));
  const deviceRoutes = new DeviceRoutes();
  const frameworkRoutes: string[] = [];
  const server = makeHttpServer({ deviceRoutes, tls, logger, onRoute: (route) => frameworkRoutes.push(route) });
  closers.add('http server', () => server.close());
  const upgrades = new Map<string, UpgradeHandler>();
  let httpPort = 0;
  const addresses = deviceAddresses(config, {
    // Asked for each device that connects; the server asks the kernel.
    http: () => (httpPort ||= portOf(server.server)) || config.httpPort,
    mqtt: () => (gateway ? gateway.ports.mqtt : config.mqttPort),
  });
  const deviceSecret = config.deviceSecret ?? (await keepSecret(config.dataDir, 'device.secret'));
  const pictures = openPictures(ground, addresses, deviceSecret);
  const gate = new ToolGate(config.deviceUrls, config.mustBeSigned);
  const { clientOf } = new TrustedProxies(config.proxies.trusted, config.proxies.header);
  const failures = new FailedAttempts();
  const gatewayPlace = { upgrades, deviceRoutes, addresses, tls, deviceSecret, pictures, clientOf };
  const gateway = ground.has('gateway') ? await openGateway(ground, gate, gatewayPlace) : undefined;
  const metrics = measureParts(ground, gateway);
  if (ground.has('api'))
    await openApi(ground, gate, metrics, {
      server,
      upgrades,
      settings: deviceSettings(addresses, config),
      pictures,
      clientOf,
      failures,
    });
  if (ground.has('worker')) await openWorker(ground, gate, metrics, pictures);
  addOperationsRoutes(server, operationsOf(ground, metrics, { clientOf, failures }));
  await server.ready();
  routeUpgrades(server.server, upgrades);
  logger.debug(
    { http: [...deviceRoutes.list(), ...frameworkRoutes], webSocket: [...upgrades.keys()] },
    'paths that are served',
  );
  await listening('FLOTILLA_HTTP_PORT', config.host, config.httpPort, () =>
    server.listen({ host: config.host, port: config.httpPort, backlog: 4096 }),
  );
  // New connections are refused first; those that are open end with the part that they belong to.
  closers.add('http listener', () => void server.server.close());
  const ports: Ports = { http: portOf(server.server), ...gateway?.ports };
  for (const port of Object.values(ports)) ground.ownPorts.add(port);
  if (options.withDemoFleet && gateway) {
    const demo = await startDemoFleet({
      enrolments: ground.registry.enrolments,
      addresses,
      dataDir: config.dataDir,
      logger,
    });
    closers.add('demo fleet', demo.stop);
  }
  return { ports, lost: ground.lease.lost, stop: () => closers.closeAll() };
}

/** A name without an address now may have one when the board is dialled. */
function addressRefusals({ dialRules }: Pick<Ground, 'dialRules'>) {
  return async (address: string, byAdmin: boolean): Promise<string | undefined> => {
    const verdict = await dialRules.judge(address, byAdmin);
    return verdict.kind === 'refused' ? verdict.message : undefined;
  };
}

interface HttpSide {
  readonly server: FastifyInstance;
  readonly upgrades: Map<string, UpgradeHandler>;
  readonly settings: DeviceSettings;
  readonly pictures: OpenPictures;
  readonly clientOf: TrustedProxies['clientOf'];
  readonly failures: FailedAttempts;
}

async function openApi(
  ground: Ground,
  gate: ToolGate,
  metrics: HubMetrics,
  { server, upgrades, settings, pictures, clientOf, failures }: HttpSide,
): Promise<void> {
  const { blobs, bus, closers, config, logger, processes, registry, singleCalls } = ground;
  const { approvals, mustBeSigned, verification } = config;
  const rules = {
    approvals,
    mustBeSigned,
    downloadOrigin: pictures.downloadOrigin,
    verification,
    voiceOrigins: config.voice.origins,
  };
  const parts = { registry, bus, clock: systemClock, logger, gate, singleCalls, processes };
  const fleet = new Fleet({ ...parts, ...rules, observeCall: (...call) => metrics.callSettled(...call) });
  const provisioning = new Provisioning({
    registry,
    bus,
    clock: systemClock,
    logger,
    refuseAddress: addressRefusals(ground),
  });
  const firmware = new FirmwareImages({ registry, bus, blobs, clock: systemClock, logger, mustBeSigned });
  const signingKeys = new SigningKeys({ registry, clock: systemClock });
  const screens = new ScreenPictures({ fleet, registry, addresses: pictures.permits, clock: systemClock });
  const announce = announceDebts({ ticks: bus.ticks, clock: systemClock, logger });
  const webhooks = new Webhooks({ registry, clock: systemClock, announce, trustedOrigins: config.webhookUrls });
  const operations = {
    fleet,
    provisioning,
    firmware,
    signingKeys,
    screens,
    webhooks,
    pictures: pictureFiles(pictures, blobs),
  };
  const api = await mountApi(server, {
    registry,
    ...operations,
    ...(await openPeople(ground)),
    oidc: config.people.oidc,
    queries: await readQueryRules(config.queries),
    limits: config.queries.limits,
    deviceSettings: settings,
    feed: bus.feed,
    publicUrl: config.publicUrl,
    consoleFolder,
    isHttps: config.tls !== undefined,
    clientOf,
    failures,
    logger,
  });
  closers.add('api', () => api.close());
  api.upgrades.forEach((handler, path) => upgrades.set(path, handler));
}

async function openWorker(ground: Ground, gate: ToolGate, metrics: HubMetrics, pictures: OpenPictures): Promise<void> {
  const { blobs, bus, closers, config, lease, logger, registry, singleCalls } = ground;
  const clock = systemClock;
  const { firmwareImages: images, uploads } = registry;
  const kept = {
    recordsMs: config.retentionDays * DAY_MS,
    jobsMs: config.jobsDays * DAY_MS,
    auditMs: config.auditDays * DAY_MS,
  };
  const retention = [
    new UploadRetention({ uploads, images, blobs, keptMs: config.uploadsDays * DAY_MS, clock, logger }),
    new RecordRetention({ registry, kept, clock, logger }),
  ];
  const webhooks = new WebhookDeliveries({ registry, bus, clock, logger, trustedOrigins: config.webhookUrls });
  metrics.addWebhooks({ counts: () => webhooks.counts, backlog: () => registry.webhooks.backlog() });
  const worker = new TickWorker({
    registry,
    bus: observeJobCalls(bus, (...call) => metrics.callSettled(...call)),
    clock,
    logger,
    gate,
    singleCalls,
    lease,
    verification: config.verification,
    rollout: { store: registry.rollouts, limits: rolloutLimits(config), urlOf: pictures.imageUrl },
    retention,
    webhooks,
  });
  await worker.start();
  closers.add('worker', () => worker.stop());
}

function measureParts({ registry, bus }: Ground, gateway: OpenGateway | undefined): HubMetrics {
  return createMetrics({
    ...(gateway && { gateway: () => gateway.status() }),
    queueDepth: () => bus.ticks.depth(),
    busRefused: () => bus.refused,
    writers: () => registry.writers(),
  });
}

async function problemsOf({ bus, registry }: Ground): Promise<readonly string[]> {
  const problems = (await inTime(registry.ping(), false)) ? [] : ['PostgreSQL does not answer'];
  return bus.isReachable ? problems : [...problems, 'Redis does not answer'];
}

function operationsOf(
  ground: Ground,
  metrics: HubMetrics,
  { clientOf, failures }: Pick<HttpSide, 'clientOf' | 'failures'>,
): Parameters<typeof addOperationsRoutes>[1] {
  const { config, registry } = ground;
  const metricsKeys = new MetricsKeys({ apiKeys: registry.apiKeys, clock: systemClock });
  return {
    isOpenOnLoopback: config.metricsAccess === 'loopback',
    notReady: onceASecond(() => problemsOf(ground)),
    scrape: () => metrics.scrape(),
    metricsAccess: async (key, request) => {
      const access = await metricsKeys.accessOf(key);
      return access === 'refused' && key !== undefined ? (failures.count(clientOf(request).address) ?? access) : access;
    },
  };
}
