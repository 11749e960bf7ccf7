/** The API role: the operations behind GraphQL, REST and MCP, mounted on the HTTP server. */
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { mountApi, type DeviceSettings, type KeyFailures } from '@flotilla/api';
import {
  AgentGrants,
  ClientDocuments,
  defaultGrantLimits,
  Alerts,
  FirmwareImages,
  Fleet,
  notifyOutbox,
  Moving,
  Provisioning,
  ScreenPictures,
  SigningKeys,
  Webhooks,
  WebhookSender,
  type CallRules,
} from '@flotilla/fleet';
import type { UnknownPages } from '../http/http-server.js';
import type { TrustedProxies } from '../http/trusted-proxies.js';
import type { UpgradeHandler } from '../http/upgrade-router.js';
import type { HubMetrics } from '../measures/metrics.js';
import { readQueryRules } from '../settings/query-settings.js';
import { systemClock } from '../system-clock.js';
import { messageSettingsOf, openChannelSender } from './open-alerts.js';
import { openPeople } from './open-people.js';
import { pictureFiles, type OpenPictures } from './open-pictures.js';
import type { SharedServices } from './shared-services.js';

/** The same from `src` and from `dist`. */
const consoleFolder = fileURLToPath(new URL('../../../dashboard/dist', import.meta.url));

/** Parts of the process that the API uses or adds handlers to. */
export interface HttpSide {
  readonly server: FastifyInstance;
  readonly pages: UnknownPages;
  readonly upgrades: Map<string, UpgradeHandler>;
  readonly settings: DeviceSettings;
  readonly pictures: OpenPictures;
  readonly clientOf: TrustedProxies['clientOf'];
  readonly failures: KeyFailures;
}

/** What the demo uses, too. */
interface ApiOperations {
  readonly fleet: Fleet;
  readonly firmware: FirmwareImages;
}

export async function openApi(
  services: SharedServices,
  callRules: CallRules,
  metrics: HubMetrics,
  { server, pages, upgrades, settings, pictures, clientOf, failures }: HttpSide,
): Promise<ApiOperations> {
  const { blobs, bus, closers, config, logger, processes, registry, singleCalls, tracer } = services;
  const { approvals, mustBeSigned, verification } = config;
  const rules = {
    approvals,
    mustBeSigned,
    downloadOrigin: pictures.downloadOrigin,
    verification,
    voiceOrigins: config.voice.origins,
    timeZone: config.timeZone,
  };
  const parts = { registry, bus, clock: systemClock, logger, callRules, singleCalls, processes, tracer };
  const fleet = new Fleet({ ...parts, ...rules, observeCall: (...call) => metrics.callSettled(...call) });
  const provisioning = new Provisioning({
    registry,
    bus,
    clock: systemClock,
    logger,
    refuseAddress: addressRefusals(services),
  });
  closers.add('provisioning', () => provisioning.stop());
  const firmware = new FirmwareImages({ registry, bus, blobs, clock: systemClock, logger, mustBeSigned });
  const signingKeys = new SigningKeys({ registry, clock: systemClock });
  const screens = new ScreenPictures({ fleet, registry, addresses: pictures.permits, clock: systemClock });
  const documents = new ClientDocuments();
  closers.add('client documents', () => documents.close());
  const alerts = openAlerts(services);
  const operations = {
    alerts,
    fleet,
    grants: new AgentGrants({ registry, bus, clock: systemClock, limits: defaultGrantLimits }),
    fetchDocument: documents.fetch,
    provisioning,
    moving: new Moving({ registry, bus, clock: systemClock, hasFormerServer: config.otaUpstream !== undefined }),
    firmware,
    signingKeys,
    screens,
    webhooks: openWebhooks(services),
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
    timeZone: config.timeZone,
    feed: bus.feed,
    publicUrl: config.publicUrl,
    isOauthOff: config.isOauthOff,
    consoleFolder,
    isHttps: config.tls !== undefined,
    clientOf,
    failures,
    logger,
  });
  closers.add('api', () => api.close());
  api.upgrades.forEach((handler, path) => upgrades.set(path, handler));
  pages.send = api.sendConsole;
  return { fleet, firmware };
}

function openWebhooks({ bus, closers, config, logger, registry }: SharedServices): Webhooks {
  const trustedOrigins = config.webhookUrls;
  const sender = new WebhookSender(trustedOrigins);
  closers.add('webhook tests', () => sender.close());
  const announce = notifyOutbox({ ticks: bus.ticks, clock: systemClock, logger });
  return new Webhooks({ registry, clock: systemClock, announce, sender, trustedOrigins });
}

function openAlerts(services: SharedServices): Alerts {
  const { bus, config, registry } = services;
  const sender = openChannelSender(services);
  const messages = messageSettingsOf(config);
  const trustedOrigins = config.webhookUrls;
  return new Alerts({ registry, bus, clock: systemClock, sender, trustedOrigins, messages });
}

/** Checks the address at registration; it is checked again before each connection. */
function addressRefusals({ dialRules }: Pick<SharedServices, 'dialRules'>) {
  return async (address: string, byAdmin: boolean): Promise<string | undefined> => {
    const verdict = await dialRules.judge(address, byAdmin);
    return verdict.kind === 'refused' ? verdict.message : undefined;
  };
}
