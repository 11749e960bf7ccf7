/** The addresses of this hub that devices and people receive. */
import { networkInterfaces } from 'node:os';
import type { DeviceSettings } from '@flotilla/api';
import { DeviceAddresses, issuedSettings } from '@flotilla/gateway';
import type { HubConfig } from '../settings/config.js';

/** Ports in use, known after the listeners are open. */
interface PortsInUse {
  readonly http: () => number;
  /** Undefined without plain MQTT. */
  readonly mqtt: () => number | undefined;
}

export function deviceAddresses(
  config: HubConfig,
  ports: PortsInUse,
  isNamed: (endpoint: string) => boolean,
): DeviceAddresses {
  const { publicHost, publicMqtt, publicUrl, tls } = config;
  return new DeviceAddresses({
    publicUrl,
    publicMqtt,
    isNamed,
    isTls: tls !== undefined,
    fallbackHost: publicHost ?? reachableHost(config.host),
    httpPort: ports.http,
    mqttPort: ports.mqtt,
  });
}

/** Settings of devices for API responses, where there is no request of a device. */
export function deviceSettings(addresses: DeviceAddresses, { publishTopic }: HubConfig): DeviceSettings {
  return {
    describeCredential: (known) => issuedSettings({ addresses, publishTopic }, known),
    otaUrl: (token) => addresses.otaUrl(token),
  };
}

/** For a hub on all interfaces: the first address that is not loopback. */
function reachableHost(host: string): string {
  if (host !== '0.0.0.0' && host !== '::') return host;
  const addresses = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  return addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? 'localhost';
}
