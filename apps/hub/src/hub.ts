/**
 * Opens the adapters that the roles need, connects them, and closes them in reverse order. Decides
 * nothing. `open` is the start order.
 */
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { KeyFailures, mountApi, type DeviceSettings } from '@flotilla/api';
import {
  notifyOutbox,
  FirmwareImages,
  Fleet,
  observeJobCalls,
  Provisioning,
  RecordRetention,
  ScreenPictures,
  SigningKeys,
  TickWorker,
  CallRules,
  UploadRetention,
  WebhookDeliveries,
  Webhooks,
} from '@flotilla/fleet';
import { Closers } from './closers.js';
import type { HubConfig } from './settings/config.js';
import { closeDataFolder } from './data-folder.js';
import { startDemoFleet } from './demo-fleet.js';
import { DeviceRoutes } from './http/device-routes.js';
import { withDemoNetworks } from './roles/dial-rules.js';
import { deviceAddresses, deviceSettings } from './roles/device-addresses.js';
import { openSharedServices, type SharedServices } from './roles/shared-services.js';
import { makeHttpServer, type UnknownPages } from './http/http-server.js';
import { answerOr } from './answer-or.js';
import { listening, portOf } from './roles/listeners.js';
import { createMetrics, type HubMetrics } from './measures/metrics.js';
import { openGateway, type OpenGateway } from './roles/open-gateway.js';
import { openPeople } from './roles/open-people.js';
import { openPictures, pictureFiles, type OpenPictures } from './roles/open-pictures.js';
import { readQueryRules } from './settings/query-settings.js';
import { rolloutLimits } from './roles/rollout-limits.js';
import { keepSecret } from './secrets/secret-file.js';
import { TrustedProxies } from './http/trusted-proxies.js';
import { MetricsKeys } from './http/metrics-keys.js';
import { onceASecond } from './http/ready-check.js';
import { addOperationsRoutes } from './http/operations-routes.js';
import { systemClock } from './system-clock.js';
import { TlsFiles } from './http/tls-files.js';
import { routeUpgrades, type UpgradeHandler } from './http/upgrade-router.js';

/**
 * The ports in use. A gateway has `udp`, `mqtt` unless it is off, and `mqtts` with a certificate.
 */
export interface Ports {
  readonly http: number;
  readonly mqtt?: number;
  readonly mqtts?: number;
  readonly udp?: number;
}

export interface RunningHub {
  readonly ports: Ports;
  /**
   * Resolves when this process lost its lease. It must end, because another process may own its
   * devices and jobs.
   */
  readonly lost: Promise<void>;
  stop(): Promise<void>;
}

export interface HubOptions {
  readonly config: HubConfig;
  readonly logger: Logger;
  readonly withDemoFleet: boolean;
}

const DAY_MS = 86_400_000;

/** The same from `src` and from `dist`. */
const consoleFolder = fileURLToPath(new URL('../../dashboard/dist', import.meta.url));

/** Starts the hub. A failed start closes what it opened, and rejects. */
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
  const services = await openSharedServices({ config, logger }, closers);
  // For all roles; most events come from gateways.
  services.registry.events.whenPending(notifyOutbox({ ticks: services.bus.ticks, clock: systemClock, logger }));
  const deviceRoutes = new DeviceRoutes();
  const frameworkRoutes: string[] = [];
  const pages: UnknownPages = {};
  const server = makeHttpServer({ deviceRoutes, tls, logger, pages, onRoute: (route) => frameworkRoutes.push(route) });
  closers.add('http server', () => server.close());
  const upgrades = new Map<string, UpgradeHandler>();
  let httpPort = 0;
  const addresses = deviceAddresses(config, {
    // Cached, because each device that connects needs it and the server asks the kernel.
    http: () => (httpPort ||= portOf(server.server)) || config.httpPort,
    mqtt: () => (gateway ? gateway.ports.mqtt : config.mqttPort),
  });
  const deviceSecret = config.deviceSecret ?? (await keepSecret(config.dataDir, 'device.secret'));
  const pictures = openPictures(services, addresses, deviceSecret);
  const callRules = new CallRules(config.deviceUrls, config.mustBeSigned);
  const { clientOf } = new TrustedProxies(config.proxies.trusted, config.proxies.header);
  const failures = new KeyFailures();
  const gatewayPlace = { upgrades, deviceRoutes, addresses, tls, deviceSecret, pictures, clientOf };
  const gateway = services.has('gateway') ? await openGateway(services, callRules, gatewayPlace) : undefined;
  const metrics = measureParts(services, gateway);
  if (services.has('api'))
    await openApi(services, callRules, metrics, {
      server,
      pages,
      upgrades,
      settings: deviceSettings(addresses, config),
      pictures,
      clientOf,
      failures,
    });
  if (services.has('worker')) await openWorker(services, callRules, metrics, pictures);
  addOperationsRoutes(server, operationsOf(services, metrics, { clientOf, failures }));
  await server.ready();
  routeUpgrades(server.server, upgrades);
  logger.debug(
    { http: [...deviceRoutes.list(), ...frameworkRoutes], webSocket: [...upgrades.keys()] },
    'paths that are served',
  );
  await listening('FLOTILLA_HTTP_PORT', config.host, config.httpPort, () =>
    server.listen({ host: config.host, port: config.httpPort, backlog: 4096 }),
  );
  // Closed before the roles. Open connections end with the part that uses them.
  closers.add('http listener', () => void server.server.close());
  const ports: Ports = { http: portOf(server.server), ...gateway?.ports };
  for (const port of Object.values(ports)) services.ownPorts.add(port);
  if (options.withDemoFleet && gateway) {
    const demo = await startDemoFleet({
      enrolments: services.registry.enrolments,
      addresses,
      dataDir: config.dataDir,
      logger,
    });
    closers.add('demo fleet', demo.stop);
  }
  return { ports, lost: services.lease.lost, stop: () => closers.closeAll() };
}

/** Checks the address at registration; it is checked again before each connection. */
function addressRefusals({ dialRules }: Pick<SharedServices, 'dialRules'>) {
  return async (address: string, byAdmin: boolean): Promise<string | undefined> => {
    const verdict = await dialRules.judge(address, byAdmin);
    return verdict.kind === 'refused' ? verdict.message : undefined;
  };
}

interface HttpSide {
  readonly server: FastifyInstance;
  readonly pages: UnknownPages;
  readonly upgrades: Map<string, UpgradeHandler>;
  readonly settings: DeviceSettings;
  readonly pictures: OpenPictures;
  readonly clientOf: TrustedProxies['clientOf'];
  readonly failures: KeyFailures;
}

async function openApi(
  services: SharedServices,
  callRules: CallRules,
  metrics: HubMetrics,
  { server, pages, upgrades, settings, pictures, clientOf, failures }: HttpSide,
): Promise<void> {
  const { blobs, bus, closers, config, logger, processes, registry, singleCalls } = services;
  const { approvals, mustBeSigned, verification } = config;
  const rules = {
    approvals,
    mustBeSigned,
    downloadOrigin: pictures.downloadOrigin,
    verification,
    voiceOrigins: config.voice.origins,
  };
  const parts = { registry, bus, clock: systemClock, logger, callRules, singleCalls, processes };
  const fleet = new Fleet({ ...parts, ...rules, observeCall: (...call) => metrics.callSettled(...call) });
  const provisioning = new Provisioning({
    registry,
    bus,
    clock: systemClock,
    logger,
    refuseAddress: addressRefusals(services),
  });
  const firmware = new FirmwareImages({ registry, bus, blobs, clock: systemClock, logger, mustBeSigned });
  const signingKeys = new SigningKeys({ registry, clock: systemClock });
  const screens = new ScreenPictures({ fleet, registry, addresses: pictures.permits, clock: systemClock });
  const announce = notifyOutbox({ ticks: bus.ticks, clock: systemClock, logger });
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
    ...(await openPeople(services)),
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
  pages.send = api.sendConsole;
}

async function openWorker(
  services: SharedServices,
  callRules: CallRules,
  metrics: HubMetrics,
  pictures: OpenPictures,
): Promise<void> {
  const { blobs, bus, closers, config, lease, logger, registry, singleCalls } = services;
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
    callRules,
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

function measureParts({ registry, bus }: SharedServices, gateway: OpenGateway | undefined): HubMetrics {
  return createMetrics({
    ...(gateway && { gateway: () => gateway.status() }),
    queueDepth: () => bus.ticks.depth(),
    busRefused: () => bus.refused,
    writers: () => registry.writers(),
  });
}

async function problemsOf({ bus, registry }: SharedServices): Promise<readonly string[]> {
  const problems = (await answerOr(registry.ping(), false)) ? [] : ['PostgreSQL does not answer'];
  return bus.isReachable ? problems : [...problems, 'Redis does not answer'];
}

function operationsOf(
  services: SharedServices,
  metrics: HubMetrics,
  { clientOf, failures }: Pick<HttpSide, 'clientOf' | 'failures'>,
): Parameters<typeof addOperationsRoutes>[1] {
  const { config, registry } = services;
  const metricsKeys = new MetricsKeys({ apiKeys: registry.apiKeys, clock: systemClock });
  return {
    isOpenOnLoopback: config.metricsAccess === 'loopback',
    notReady: onceASecond(() => problemsOf(services)),
    scrape: () => metrics.scrape(),
    metricsAccess: async (key, request) => {
      const access = await metricsKeys.accessOf(key);
      return access === 'refused' && key !== undefined ? (failures.count(clientOf(request).address) ?? access) : access;
    },
  };
}
