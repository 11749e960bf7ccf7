/** The hub's metrics, read as Prometheus does. */
import type { HubProcess } from './hub-process.js';

export async function metricsText(hub: HubProcess): Promise<string> {
  const response = await fetch(`${hub.httpUrl}/metrics`, { headers: { authorization: `Bearer ${hub.adminKey}` } });
  if (!response.ok) throw new Error(`/metrics answered ${response.status}.`);
  return response.text();
}

/**
 * Sum over all series of a metric whose line contains each of `labels`, e.g. `name="takeover_all"`.
 */
export async function metric(hub: HubProcess, name: string, ...labels: readonly string[]): Promise<number> {
  const lines = (await metricsText(hub))
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  return lines
    .filter((line) => labels.every((label) => line.includes(label)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

/** The metric's values, by one of its labels. */
export async function metricSums(hub: HubProcess, name: string, label: string): Promise<ReadonlyMap<string, number>> {
  const sums = new Map<string, number>();
  for (const line of (await metricsText(hub)).split('\n')) {
    const value = line.startsWith(`${name}{`) ? new RegExp(`[{,]${label}="([^"]*)"`).exec(line)?.[1] : undefined;
    if (value !== undefined) sums.set(value, (sums.get(value) ?? 0) + Number(line.slice(line.lastIndexOf(' ') + 1)));
  }
  return sums;
}
