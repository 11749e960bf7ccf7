/** The hub's metrics, read as Prometheus does. */
import type { HubProcess } from './hub-process.js';

export async function metricsText(hub: HubProcess): Promise<string> {
  const response = await fetch(`${hub.httpUrl}/metrics`);
  if (!response.ok) throw new Error(`/metrics answered ${response.status}.`);
  return response.text();
}

/** Sum over all series of a metric whose line contains each of `labels`, e.g. `name="takeover_all"`. */
export async function metric(hub: HubProcess, name: string, ...labels: readonly string[]): Promise<number> {
  const lines = (await metricsText(hub)).split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  return lines
    .filter((line) => labels.every((label) => line.includes(label)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}
