/** The gateway role: who devices are, the ways in for them, and the listeners of MQTT. */
import {
  FleetOrOwnAuth,
  FleetSecretAuth,
  Gateway,
  OpenAuth,
  OtaProvisioning,
  type ClientAddress,
  type DeviceAddresses,
  type DeviceAuth,
} from '@flotilla/gateway';
import type { CallServer } from '@flotilla/bus';
import { refuseRouted, RolloutOffers, type ToolGate } from '@flotilla/fleet';
import type { HubConfig } from '../settings/config.js';
import type { DeviceRoutes } from '../http/device-routes.js';
import { importFactoryKeys } from '../settings/factory-keys.js';
import type { Ground } from './ground.js';
import { listening, listenMqtt, listenMqttOverTls, portOf } from './listeners.js';
import type { OpenPictures } from './open-pictures.js';
import { openVoice } from './open-voice.js';
import { rolloutLimits } from '../settings/rollout-limits.js';
import { systemClock } from '../system-clock.js';
import type { TrustedProxies } from '../http/trusted-proxies.js';
import type { TlsFiles } from '../http/tls-files.js';
import type { UpgradeHandler } from '../http/upgrade-router.js';

export interface OpenGateway {
  readonly status: () => ReturnType<Gateway['status']>;
  readonly ports: { readonly mqtt: number; readonly mqtts?: number; readonly udp: number };
}

/** Where the gateway's handlers go, and what it tells devices. */
export interface GatewayPlace {
  readonly upgrades: Map<string, UpgradeHandler>;
  readonly deviceRoutes: DeviceRoutes;
  readonly addresses: DeviceAddresses;
  readonly tls: TlsFiles | undefined;
  readonly deviceSecret: string;
  readonly pictures: OpenPictures;
  readonly clientOf: TrustedProxies['clientOf'];
}

export async function openGateway(ground: Ground, gate: ToolGate, place: GatewayPlace): Promise<OpenGateway> {
  const { upgrades, deviceRoutes, addresses, tls, deviceSecret, pictures } = place;
  const addressOf: ClientAddress = (request) => place.clientOf(request).address;
  const { bus, closers, config, lease, logger, registry } = ground;
  const { publishTopic } = config;
  const provisioning = new OtaProvisioning({
    ...{ registry, bus, mode: config.enrolment, clock: systemClock, logger },
    updates: { offer: rolloutOffers(ground), signer: pictures.signer },
    addressOf,
    settings: { addresses, publishTopic, timeZone: config.deviceTimeZone ?? hostTimeZone },
  });
  await provisioning.start();
  if (config.factoryKeysFile !== undefined) await importFactoryKeys(config.factoryKeysFile, registry.enrolments, logger);
  const auth = deviceAuth(config, deviceSecret, provisioning.auth, registry);
  const udp = { host: config.host, port: config.udpPort, publicHost: config.publicHost };
  const limits = {
    reconnectsMax: config.reconnectsMax,
    statusIntervalSeconds: config.statusIntervalSeconds,
    voicelessIdleMs: config.voicelessIdleMs,
  };
  const gateway = new Gateway({
    visionFor: (customer) => pictures.uploads.visionFor(customer),
    gatewayId: lease.id,
    registry,
    bus,
    clock: systemClock,
    auth,
    publishTopic,
    addressOf,
    dialNetworks: config.dialNetworks,
    udp,
    voice: openVoice(ground, gate),
    limits,
    logger,
  });
  await listening('FLOTILLA_UDP_PORT', config.host, config.udpPort, () => gateway.start());
  closers.add('gateway', () => gateway.stop());
  const unserve = await bus.calls.serve(lease.id, checkedServer(gateway, gate));
  closers.add('call server', unserve);
  gateway.upgrades.forEach((handler, path) => upgrades.set(path, handler));
  deviceRoutes.add([...provisioning.httpRoutes, ...pictures.uploads.httpRoutes, ...pictures.downloads.httpRoutes]);
  const ports = await listenForMqtt(ground, gateway, tls);
  return { status: () => statusOf(gateway, [provisioning, pictures.downloads]), ports: { ...ports, udp: gateway.udpPort } };
}

/** Calls of this process were checked by the same gate already; those of others are checked again. */
function checkedServer(gateway: Gateway, gate: ToolGate): CallServer {
  const { callServer } = gateway;
  return {
    call: (routed, settle) => callServer.call(routed, settle),
    refuse: (routed) => refuseRouted(gate, routed, gateway.toolSetOf(routed.deviceId), systemClock.now()),
    refreshTools: (deviceId) => callServer.refreshTools(deviceId),
    disconnect: (deviceId) => callServer.disconnect(deviceId),
  };
}

function rolloutOffers({ bus, config, registry }: Ground): RolloutOffers {
  const { verification } = config;
  return new RolloutOffers({ store: registry.rollouts, bus, clock: systemClock, limits: rolloutLimits(config), verification });
}

const hostTimeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

function deviceAuth(config: HubConfig, secret: string, own: DeviceAuth, { enrolments }: Ground['registry']): DeviceAuth {
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
  { closers, config }: Ground,
  gateway: Gateway,
  tls: TlsFiles | undefined,
): Promise<{ readonly mqtt: number; readonly mqtts?: number }> {
  const mqtt = await listening('FLOTILLA_MQTT_PORT', config.host, config.mqttPort, () =>
    listenMqtt(config.host, config.mqttPort, (socket) => gateway.acceptMqtt(socket)),
  );
  closers.add('MQTT listener', () => void mqtt.close());
  if (tls === undefined) return { mqtt: portOf(mqtt) };
  const mqtts = await listening('FLOTILLA_MQTTS_PORT', config.host, config.mqttsPort, () =>
    listenMqttOverTls({ host: config.host, port: config.mqttsPort, tls: tls.current }, (socket) => gateway.acceptMqtt(socket)),
  );
  tls.keepCurrent(mqtts);
  closers.add('MQTT over TLS listener', () => void mqtts.close());
  return { mqtt: portOf(mqtt), mqtts: portOf(mqtts) };
}

function statusOf(gateway: Gateway, others: readonly Pick<OtaProvisioning, 'counts'>[]): ReturnType<Gateway['status']> {
  const status = gateway.status();
  return { ...status, counts: [...status.counts, ...others.flatMap((other) => other.counts())] };
}
