/**
 * Opens the adapters that the roles need, connects them, and closes them in reverse order. Decides
 * nothing. `open` is the start order.
 */
import type { Logger } from 'pino';
import { KeyFailures } from '@flotilla/api';
import { CallRules, notifyOutbox, type TickWorker } from '@flotilla/fleet';
import { Closers } from './closers.js';
import { Drain } from './drain.js';
import type { HubConfig } from './settings/config.js';
import { closeDataFolder } from './data-folder.js';
import { startDemoFleet } from './demo/demo-fleet.js';
import { furnishDemo } from './demo/furnish-demo.js';
import { DeviceRoutes } from './http/device-routes.js';
import { drainHttp } from './http/drain-http.js';
import { OpenRequests } from './http/open-requests.js';
import { withDemoNetworks } from './roles/dial-rules.js';
import { deviceAddresses, deviceSettings } from './roles/device-addresses.js';
import { openSharedServices, type SharedServices } from './roles/shared-services.js';
import { makeHttpServer, type UnknownPages } from './http/http-server.js';
import { answerOr } from './answer-or.js';
import { listening, portOf } from './roles/listeners.js';
import { createMetrics, type HubMetrics } from './measures/metrics.js';
import { openGateway, type OpenGateway } from './roles/open-gateway.js';
import { announceGateway, openPlaces } from './roles/open-places.js';
import { openApi, type HttpSide } from './roles/open-api.js';
import { openHomeAssistant } from './roles/open-home-assistant.js';
import { openWorker } from './roles/open-worker.js';
import { openPictures } from './roles/open-pictures.js';
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
interface Ports {
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
  /** Finishes or hands over what this process does, before `stop`. */
  drain(): Promise<void>;
  stop(): Promise<void>;
}

interface HubOptions {
  readonly config: HubConfig;
  readonly logger: Logger;
  readonly withDemoFleet: boolean;
}

/**
 * At a stop without a drain, calls end when their device's session closes. Their answers get this
 * time to be sent, ms.
 */
const LAST_ANSWERS_WITHIN_MS = 1_000;

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
  const { lease, registry } = services;
  const drain = new Drain({ withinMs: config.drainMs, registry, lease, logger });
  // For all roles; most events come from gateways.
  registry.events.whenPending(notifyOutbox({ ticks: services.bus.ticks, clock: systemClock, logger }));
  const deviceRoutes = new DeviceRoutes();
  const frameworkRoutes: string[] = [];
  const openRequests = new OpenRequests();
  const pages: UnknownPages = {};
  const onRoute = (route: string) => void frameworkRoutes.push(route);
  const server = makeHttpServer({ deviceRoutes, openRequests, tls, logger, pages, onRoute });
  closers.add('http server', async () => {
    await openRequests.idle(LAST_ANSWERS_WITHIN_MS);
    await server.close();
  });
  const upgrades = new Map<string, UpgradeHandler>();
  let httpPort = 0;
  const places = await openPlaces(services);
  const portsInUse = {
    // Cached, because each device that connects needs it and the server asks the kernel.
    http: () => (httpPort ||= portOf(server.server)) || config.httpPort,
    mqtt: () => (gateway ? gateway.ports.mqtt : config.mqttPort),
  };
  const addresses = deviceAddresses(config, portsInUse, (endpoint) => places.isNamed(endpoint));
  const deviceSecret = config.deviceSecret ?? (await keepSecret(config.dataDir, 'device.secret'));
  const pictures = openPictures(services, addresses, deviceSecret);
  const callRules = new CallRules(config.deviceUrls, config.mustBeSigned);
  const { clientOf } = new TrustedProxies(config.proxies.trusted, config.proxies.header);
  const failures = new KeyFailures();
  const gatewayPlace = { upgrades, deviceRoutes, addresses, tls, deviceSecret, pictures, clientOf };
  const metrics = measureParts(services);
  const gateway = services.has('gateway') ? await openGateway(services, callRules, metrics, gatewayPlace) : undefined;
  const httpSide = { server, pages, upgrades, settings: deviceSettings(addresses, config), pictures };
  const api = services.has('api')
    ? await openApi(services, callRules, metrics, { ...httpSide, clientOf, failures })
    : undefined;
  const worker = services.has('worker') ? await openWorker(services, callRules, metrics, pictures) : undefined;
  if (worker) await openHomeAssistant(services, callRules, metrics, pictures);
  addDrains(drain, services, { gateway, worker, openRequests });
  addOperationsRoutes(server, operationsOf(services, metrics, { clientOf, failures, drain, gateway }));
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
  if (gateway) announceGateway(places, gateway, services);
  if (options.withDemoFleet && gateway) {
    const { dataDir } = config;
    const demo = await startDemoFleet({ enrolments: registry.enrolments, addresses, dataDir, logger });
    closers.add('demo fleet', demo.stop);
    if (api) closers.add('demo furniture', furnishDemo({ ...api, registry, dataDir, logger }));
  }
  return { ports, lost: lease.lost, drain: () => drain.run(), stop: () => closers.closeAll() };
}

interface DrainedParts {
  readonly gateway: OpenGateway | undefined;
  readonly worker: Pick<TickWorker, 'handOver'> | undefined;
  readonly openRequests: OpenRequests;
}

function addDrains(
  drain: Drain,
  { has, singleCalls }: SharedServices,
  { gateway, worker, openRequests }: DrainedParts,
): void {
  if (gateway) drain.add('gateway', (plan) => gateway.drain(plan));
  if (worker) drain.add('worker', ({ withinMs }) => worker.handOver(withinMs));
  for (const role of ['gateway', 'api'] as const)
    if (has(role)) drain.add(role, (plan) => drainHttp(plan, { openRequests, singleCalls }));
}

function measureParts({ registry, bus }: SharedServices): HubMetrics {
  return createMetrics({
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
  {
    clientOf,
    failures,
    drain,
    gateway,
  }: Pick<HttpSide, 'clientOf' | 'failures'> & {
    readonly drain: Drain;
    readonly gateway: OpenGateway | undefined;
  },
): Parameters<typeof addOperationsRoutes>[1] {
  const { config, registry } = services;
  const metricsKeys = new MetricsKeys({ apiKeys: registry.apiKeys, clock: systemClock });
  return {
    isOpenOnLoopback: config.metricsAccess === 'loopback',
    isDraining: () => drain.isRunning,
    gateway: gateway?.occupancy,
    notReady: onceASecond(() => problemsOf(services)),
    scrape: () => metrics.scrape(),
    metricsAccess: async (key, request) => {
      const access = await metricsKeys.accessOf(key);
      return access === 'refused' && key !== undefined ? (failures.count(clientOf(request).address) ?? access) : access;
    },
  };
}
