/** What all checks of the doctor know. */
import type { HubConfig } from '../settings/config.js';

export interface DoctorContext {
  readonly config: HubConfig;
  /** The process that uses the data folder; undefined if no hub runs on it. */
  readonly hubPid: number | undefined;
  /** Whether a hub answers on the HTTP port of the settings. */
  readonly isAnswering: boolean;
  readonly now: () => number;
}

const everywhere: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' };

/** Where this machine reaches the hub. */
export function localUrl({ host, httpPort, tls }: HubConfig): string {
  const name = everywhere[host] ?? (host.includes(':') ? `[${host}]` : host);
  return `${tls === undefined ? 'http' : 'https'}://${name}:${httpPort}`;
}
