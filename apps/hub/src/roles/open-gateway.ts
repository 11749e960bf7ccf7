/** The gateway role: credentials of devices, enrolment, the gateway, and the MQTT listeners. */
import type { Server, Socket } from 'node:net';
import {
  BootSigns,
  EventLog,
  FleetOrOwnAuth,
  FleetSecretAuth,
  Gateway,
  MeasurementRecorder,
  OpenAuth,
  OtaProvisioning,
  type ClientAddress,
  type DeviceAddresses,
  type DeviceAuth,
  type GatewayOccupancy,
} from '@flotilla/gateway';
import { tracedEnqueue, type CallServer, type CallTracer } from '@flotilla/bus';
import { FormerOtaServer, refuseRoutedCall, RolloutOffers, type CallRules } from '@flotilla/fleet';
import type { HubConfig } from '../settings/config.js';
import { pseudonymOf } from '../settings/secret-settings.js';
import { limitConnections } from '../http/connection-limit.js';
import type { DeviceRoutes } from '../http/device-routes.js';
import type { HubMetrics } from '../measures/metrics.js';
import { importFactoryKeys } from '../secrets/factory-keys.js';
import type { SharedServices } from './shared-services.js';
import { listening, listenMqtt, listenMqttOverTls, portOf } from './listeners.js';
import type { OpenPictures } from './open-pictures.js';
import { openVoice } from './open-voice.js';
import { rolloutLimitsOf } from './rollout-limits-of.js';
import { systemClock } from '../system-clock.js';
import type { TrustedProxies } from '../http/trusted-proxies.js';
import type { TlsFiles } from '../http/tls-files.js';
import type { UpgradeHandler } from '../http/upgrade-router.js';

export interface OpenGateway {
  readonly drain: Gateway['drain'];
  readonly occupancy: () => GatewayOccupancy;
  readonly ports: { readonly mqtt?: number; readonly mqtts?: number; readonly udp: number };
}

/** Parts of the process that the gateway uses or adds handlers to. */
interface GatewayPlace {
  readonly upgrades: Map<string, UpgradeHandler>;
  readonly deviceRoutes: DeviceRoutes;
  readonly addresses: DeviceAddresses;
  readonly tls: TlsFiles | undefined;
  readonly deviceSecret: string;
  readonly pictures: OpenPictures;
  readonly clientOf: TrustedProxies['clientOf'];
}

export async function openGateway(
  services: SharedServices,
  callRules: CallRules,
  metrics: HubMetrics,
  place: GatewayPlace,
): Promise<OpenGateway> {
  const { upgrades, deviceRoutes, addresses, tls, deviceSecret, pictures } = place;
  const addressOf: ClientAddress = (request) => place.clientOf(request).address;
  const { bus, closers, config, lease, logger, registry } = services;
  const { publishTopic, timeZone } = config;
  const provisioning = new OtaProvisioning({
    registry,
    bus,
    mode: config.enrolment,
    clock: systemClock,
    logger,
    updates: { offer: rolloutOffers(services), signer: pictures.signer },
    former: openFormer(services, deviceSecret),
    addressOf,
    settings: { addresses, publishTopic, timeZone },
  });
  await provisioning.start();
  if (config.factoryKeysFile !== undefined)
    await importFactoryKeys(config.factoryKeysFile, registry.enrolments, logger);
  const auth = deviceAuth(config, deviceSecret, provisioning.auth, registry);
  const { host, publicHost, udpPort } = config;
  const udp = { host, port: udpPort, publicHost, fallbackHost: addresses.host };
  const limits = {
    sessionsMax: config.devicesMax,
    reconnectsMax: config.reconnectsMax,
    statusIntervalSeconds: config.statusIntervalSeconds,
    voicelessIdleMs: config.voicelessIdleMs,
  };
  const gateway = new Gateway({
    ...openRecorders(services),
    visionFor: (customer) => pictures.uploads.visionFor(customer),
    gatewayId: lease.id,
    registry,
    bus,
    clock: systemClock,
    auth,
    publishTopic,
    addressOf,
    dialRules: services.dialRules,
    udp,
    voice: openVoice(services, callRules, (...call) => metrics.callSettled(...call)),
    limits,
    logger,
  });
  await listening('FLOTILLA_UDP_PORT', config.host, config.udpPort, () => gateway.start());
  closers.add('gateway', () => gateway.stop());
  const unserve = await bus.calls.serve(lease.id, checkedServer(gateway, callRules, services.tracer));
  closers.add('call server', unserve);
  gateway.upgrades.forEach((handler, path) => upgrades.set(path, handler));
  deviceRoutes.add([...provisioning.httpRoutes, ...pictures.uploads.httpRoutes, ...pictures.downloads.httpRoutes]);
  metrics.addGateway(() => statusOf(gateway, [provisioning, pictures.downloads]));
  const ports = await listenForMqtt(services, gateway, tls);
  return {
    drain: (plan) => gateway.drain(plan),
    occupancy: () => gateway.occupancy,
    ports: { ...ports, udp: gateway.udpPort },
  };
}

/** What writes the measurements and the signs of restarts that devices report. */
function openRecorders({ bus, closers, logger, registry }: SharedServices) {
  const events = new EventLog({ events: registry.events, feed: bus.feed, clock: systemClock });
  const measurements = new MeasurementRecorder({ registry, clock: systemClock, logger, feed: bus.feed, events });
  measurements.start();
  closers.add('measurements', () => measurements.stop());
  const boots = new BootSigns({ restarts: registry.restarts, clock: systemClock, logger });
  boots.start();
  closers.add('boot signs', () => boots.stop());
  return { measurements, boots };
}

/**
 * Calls of this process passed the same rules already. Calls of other processes are checked here.
 */
function checkedServer(gateway: Gateway, callRules: CallRules, tracer: CallTracer | undefined): CallServer {
  const { callServer } = gateway;
  return {
    enqueue: tracedEnqueue(callServer, tracer),
    refusalOf: (routed) => refuseRoutedCall(callRules, routed, gateway.toolSetOf(routed.deviceId), systemClock.now()),
    refreshTools: (deviceId) => callServer.refreshTools(deviceId),
    disconnect: (deviceId) => callServer.disconnect(deviceId),
  };
}

function openFormer({ closers, config, logger }: SharedServices, secret: string): FormerOtaServer | undefined {
  const { otaUpstream: url } = config;
  if (url === undefined) return undefined;
  const server = new FormerOtaServer({ url, pseudonym: pseudonymOf(secret, url), logger });
  closers.add('former server', () => server.close());
  return server;
}

function rolloutOffers({ bus, config, registry }: SharedServices): RolloutOffers {
  const { verification } = config;
  return new RolloutOffers({
    store: registry.rollouts,
    bus,
    clock: systemClock,
    limits: rolloutLimitsOf(config),
    verification,
  });
}

function deviceAuth(
  config: HubConfig,
  secret: string,
  own: DeviceAuth,
  { enrolments }: SharedServices['registry'],
): DeviceAuth {
  switch (config.deviceAuth) {
    case 'open':
      return new OpenAuth();
    case 'credentials':
      return own;
    case 'hmac':
      return new FleetOrOwnAuth({ fleet: new FleetSecretAuth({ secret, clock: systemClock }), own, enrolments });
  }
}

async function listenForMqtt(
  { closers, config, logger }: SharedServices,
  gateway: Gateway,
  tls: TlsFiles | undefined,
): Promise<{ readonly mqtt?: number; readonly mqtts?: number }> {
  const { host, mqttPort, mqttsPort } = config;
  const accept = (socket: Socket) => gateway.acceptMqtt(socket);
  const open = (setting: string, port: number, name: string, listen: () => Promise<Server>) =>
    listening(setting, host, port, listen).then((server) => {
      limitConnections(server, logger);
      closers.add(name, () => void server.close());
      return portOf(server);
    });
  const mqtt =
    mqttPort === undefined
      ? undefined
      : await open('FLOTILLA_MQTT_PORT', mqttPort, 'MQTT listener', () => listenMqtt(host, mqttPort, accept));
  const openTls = async (files: TlsFiles) => {
    const server = await listenMqttOverTls({ host, port: mqttsPort, tls: files.current }, accept);
    files.keepCurrent(server);
    return server;
  };
  const mqtts = tls && (await open('FLOTILLA_MQTTS_PORT', mqttsPort, 'MQTT over TLS listener', () => openTls(tls)));
  return { ...(mqtt !== undefined && { mqtt }), ...(mqtts !== undefined && { mqtts }) };
}

function statusOf(gateway: Gateway, others: readonly Pick<OtaProvisioning, 'counts'>[]): ReturnType<Gateway['status']> {
  const status = gateway.status();
  return { ...status, counts: [...status.counts, ...others.flatMap((other) => other.counts())] };
}
