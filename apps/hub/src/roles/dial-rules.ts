/** Where the hub may connect to microcontrollers, by its settings and the servers it uses. */
import { redisHosts } from '@flotilla/bus';
import { DialRules, loopbackNetworks, type DialPlace } from '@flotilla/gateway';
import type { HubConfig } from '../settings/config.js';
import { loopback } from '../settings/setting-kinds.js';

type Config = Pick<HubConfig, 'dialNetworks' | 'host' | 'httpPort' | 'mqttPort' | 'mqttsPort' | 'redis' | 'udpPort'>;

/** `databaseUrl` is the one in use, also for the embedded server. */
export function dialRulesOf(config: Config, databaseUrl: string, ownPorts: () => readonly number[]): DialRules {
  return new DialRules({
    listed: config.dialNetworks,
    isOnLoopback: loopback.test(config.host),
    ownPorts,
    services: [...placeOf(databaseUrl, 5_432), ...(config.redis === undefined ? [] : redisHosts(config.redis.url))],
  });
}

/** Allows loopback, because the boards of the demo fleet are on this machine. */
export function withDemoNetworks(config: HubConfig): HubConfig {
  return { ...config, dialNetworks: [...config.dialNetworks, ...loopbackNetworks] };
}

/** Ports in the settings; another process of this hub may have these listeners on this machine. */
export function configuredPorts({ httpPort, mqttPort, mqttsPort, udpPort }: Config): readonly number[] {
  return [httpPort, mqttPort, mqttsPort, udpPort].flatMap((port) => (port === undefined || port === 0 ? [] : [port]));
}

/** Empty when the URL names a socket in the file system. */
function placeOf(url: string, defaultPort: number): readonly DialPlace[] {
  const { hostname, port, searchParams } = new URL(url);
  const host = (searchParams.get('host') ?? hostname).replace(/^\[|\]$/g, '');
  return host === '' || host.startsWith('/') ? [] : [{ host, port: port === '' ? defaultPort : Number(port) }];
}
