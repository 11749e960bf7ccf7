/** Single calls as an integrator makes them: `callTool` over HTTP, a given number at a time, with the latency of each. */
import { Agent, request } from 'node:http';
import type { HubProcess } from '@flotilla/test/hub/hub-process';

const CALL = 'mutation ($input: CallToolInput!) { callTool(input: $input) { call { outcome } userErrors { code } } }';

/** Latencies in ms, and calls per second over the whole run. */
export interface CallLatencies {
  readonly p50: number;
  readonly p99: number;
  readonly perSecond: number;
}

/** Makes `total` calls, `concurrency` at a time, each lane on devices of its own. A call that does not succeed ends the bench. */
export async function callOverHttp(
  hub: HubProcess,
  deviceIds: readonly string[],
  { total, concurrency }: { readonly total: number; readonly concurrency: number },
): Promise<CallLatencies> {
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  const latencies: number[] = [];
  let made = 0;
  const lane = async (index: number) => {
    while (made < total) {
      made++;
      const before = performance.now();
      await callOnce(hub, agent, deviceIds[index % deviceIds.length] ?? '');
      latencies.push(performance.now() - before);
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: concurrency }, (_unused, index) => lane(index)));
  const seconds = (performance.now() - startedAt) / 1_000;
  agent.destroy();
  latencies.sort((a, b) => a - b);
  const quantile = (share: number) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
  return { p50: quantile(0.5), p99: quantile(0.99), perSecond: latencies.length / seconds };
}

function callOnce(hub: HubProcess, agent: Agent, deviceId: string): Promise<void> {
  const body = JSON.stringify({
    query: CALL,
    variables: { input: { deviceId, tool: 'self.audio_speaker.set_volume', arguments: { volume: 42 } } },
  });
  return new Promise((resolve, reject) => {
    const sent = request(
      `${hub.httpUrl}/graphql`,
      {
        method: 'POST',
        agent,
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), authorization: `Bearer ${hub.adminKey}` },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          if (text.includes('"outcome":"SUCCEEDED"')) resolve();
          else reject(new Error(`callTool answered ${text}`));
        });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}
