/** Where the hub may connect to microcontrollers, by its settings and the servers it uses. */
import { redisHosts } from '@flotilla/bus';
import { DialRules, loopbackNetworks } from '@flotilla/gateway';
import { postgresHosts } from '@flotilla/registry';
import type { HubConfig } from '../settings/config.js';
import { loopback } from '../settings/setting-kinds.js';

type Config = Pick<HubConfig, 'dialNetworks' | 'host' | 'httpPort' | 'mqttPort' | 'mqttsPort' | 'redis' | 'udpPort'>;

/** `databaseUrl` is the one in use, also for the embedded server. */
export function dialRulesOf(config: Config, databaseUrl: string, ownPorts: () => readonly number[]): DialRules {
  return new DialRules({
    listed: config.dialNetworks,
    isOnLoopback: loopback.test(config.host),
    ownPorts,
    services: [...postgresHosts(databaseUrl), ...(config.redis === undefined ? [] : redisHosts(config.redis.url))],
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
