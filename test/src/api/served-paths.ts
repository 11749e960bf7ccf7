/**
 * The paths that a hub with FLOTILLA_LOG_LEVEL=debug says it serves: `METHOD path` over HTTP, the
 * path alone over WebSocket.
 */
import type { HubProcess } from '../hub/hub-process.js';

export interface ServedPaths {
  readonly http: readonly string[];
  readonly webSocket: readonly string[];
}

export function servedPaths(hub: Pick<HubProcess, 'log'>): ServedPaths {
  const line = hub
    .log()
    .split('\n')
    .find((text) => text.includes('paths that are served'));
  if (line === undefined) throw new Error('The hub did not say which paths it serves.');
  return JSON.parse(line) as ServedPaths;
}
