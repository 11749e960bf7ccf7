/** Measures single calls as integrators make them: `callTool` over HTTP, with concurrency. */
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import type { HubProcess } from '@flotilla/test/hub/hub-process';

/** The error is for people: a call that does not succeed ends the bench. */
const CALL = `mutation ($input: CallToolInput!) {
  callTool(input: $input) { call { outcome error { code message } } userErrors { code } }
}`;

/** Latencies in ms, and calls per second over the whole run. */
export interface CallLatencies {
  readonly p50: number;
  readonly p99: number;
  readonly perSecond: number;
  /** Calls that the hub refused; they count in no other figure. */
  readonly refused: number;
}

export interface CallLoad {
  readonly total: number;
  readonly concurrency: number;
  /** Paces the calls. Without it, each lane calls again at once. */
  readonly perSecond?: number;
  /** Ends the run early. */
  readonly seconds?: number;
  /** Calls refused as OVERLOADED are counted, and their lane waits a moment. */
  readonly mayBeRefused?: boolean;
  /** Of each request, besides those that it needs. */
  readonly headers?: Readonly<Record<string, string>>;
}

const REFUSED_PAUSE_MS = 100;

/** Makes `total` calls, `concurrency` at a time. Failures not allowed by `load` end the bench. */
export async function callOverHttp(
  hub: HubProcess,
  deviceIds: readonly string[],
  { total, concurrency, perSecond = Infinity, seconds = Infinity, mayBeRefused = false, headers = {} }: CallLoad,
): Promise<CallLatencies> {
  const pool = new Pool(hub.httpUrl, { connections: concurrency });
  const latencies: number[] = [];
  let made = 0;
  let refused = 0;
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1_000;
  const lane = async (index: number) => {
    // Each lane has its own devices: two calls to one device would wait for each other.
    for (let next = index; made < total && performance.now() < endsAt; next += concurrency) {
      made++;
      const waitMs = startedAt + (made * 1_000) / perSecond - performance.now();
      if (waitMs > 0) await pause(waitMs);
      const before = performance.now();
      const text = await callOnce(pool, deviceIds[next % deviceIds.length] ?? '', {
        ...headers,
        authorization: `Bearer ${hub.adminKey}`,
      });
      if (text.includes('"outcome":"SUCCEEDED"')) latencies.push(performance.now() - before);
      else if (mayBeRefused && text.includes('"code":"OVERLOADED"')) {
        refused++;
        await pause(REFUSED_PAUSE_MS);
      } else throw new Error(`callTool answered ${text}`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, (_unused, index) => lane(index)));
  const tookSeconds = (performance.now() - startedAt) / 1_000;
  await pool.close();
  latencies.sort((a, b) => a - b);
  const quantile = (share: number) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
  return { p50: quantile(0.5), p99: quantile(0.99), perSecond: latencies.length / tookSeconds, refused };
}

async function callOnce(pool: Pool, deviceId: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const { body } = await pool.request({
    path: '/graphql',
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({
      query: CALL,
      variables: { input: { deviceId, tool: 'self.audio_speaker.set_volume', arguments: { volume: 42 } } },
    }),
  });
  return body.text();
}
