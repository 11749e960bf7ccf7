/** What this hub tells devices, and people about devices, of where to connect. */
import { networkInterfaces } from 'node:os';
import type { DeviceSettings } from '@flotilla/api';
import { DeviceAddresses, issuedSettings } from '@flotilla/gateway';
import type { HubConfig } from '../settings/config.js';

/** Ports in use, known once the listeners are open. */
export interface PortsInUse {
  readonly http: () => number;
  /** Undefined where there is no plain MQTT. */
  readonly mqtt: () => number | undefined;
}

export function deviceAddresses(config: HubConfig, ports: PortsInUse): DeviceAddresses {
  const { publicHost, publicMqtt, publicUrl, tls } = config;
  return new DeviceAddresses({
    ...{ publicUrl, publicMqtt, isTls: tls !== undefined },
    fallbackHost: publicHost ?? reachableHost(config.host),
    httpPort: ports.http,
    mqttPort: ports.mqtt,
  });
}

/** For payloads of the API, where no request of the device says which address it reaches. */
export function deviceSettings(addresses: DeviceAddresses, { publishTopic }: HubConfig): DeviceSettings {
  return {
    describeCredential: (known) => issuedSettings({ addresses, publishTopic }, known),
    otaUrl: (token) => addresses.otaUrl(token),
  };
}

/** A hub on all interfaces is reached at the first address that is not loopback. */
function reachableHost(host: string): string {
  if (host !== '0.0.0.0' && host !== '::') return host;
  const addresses = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  return addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? 'localhost';
}
