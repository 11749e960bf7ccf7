/**
 * Bench (g): concurrent conversations through the hub, half over WebSocket and half over MQTT with
 * UDP, a packet every 60 ms each way, and calls to the same devices. Devices and voice server are
 * separate processes. The comparison is without a hub between them.
 */
import { readFileSync } from 'node:fs';
import { ask } from '@flotilla/test/api/graphql-client';
import { removeDataDir, startHub, type HubProcess } from '@flotilla/test/hub/hub-process';
import { metricSums } from '@flotilla/test/hub/metrics';
import { lamp } from '@flotilla/test/devices/firmware';
import type { Figure } from '../report.js';
import { macOf } from './bench-devices.js';
import { Child } from './child.js';
import type { ConnectRequest, DevicesReport, ServerReport, SpeakRequest } from './messages.js';
import { now } from './stamped-packet.js';

/** Time that is not counted: code is compiled, and heaps and buffers grow. */
const WARM_UP_MS = 5_000;
const COUNTED_MS = 15_000;
/** Calls to talking devices, one at a time, during the counted time. */
const CALL_EVERY_MS = 50;

const CALL = `mutation ($input: CallToolInput!) {
  callTool(input: $input) { call { outcome error { message } } userErrors { message } }
}`;

interface Talk {
  readonly devices: DevicesReport;
  readonly server: ServerReport;
}

export async function benchConversations(conversations: number): Promise<readonly Figure[]> {
  const server = new Child('./voice-server.js');
  try {
    const { url } = await server.answer<{ url: string }>();
    const direct = await talk(server, { conversations, to: { voiceServer: url } });
    return await throughHub(server, url, conversations, direct);
  } finally {
    await server.stop();
  }
}

async function throughHub(server: Child, url: string, conversations: number, direct: Talk): Promise<readonly Figure[]> {
  const hub = await startHub({ env: { FLOTILLA_VOICE_URL: url, FLOTILLA_LOG_LEVEL: 'warn' } });
  try {
    const { httpPort, mqttPort, mqttsPort, deviceSecret } = hub;
    const calls: number[] = [];
    const cpu = { ms: 0 };
    const relayed = await talk(
      server,
      { conversations, to: { httpPort, mqttPort, mqttsPort, deviceSecret } },
      async (from, until) => {
        await latenciesOfCalls(hub, conversations, from);
        const before = cpuMsOf(hub.pid);
        calls.push(...(await latenciesOfCalls(hub, conversations, until)));
        await pause(until - now());
        cpu.ms = cpuMsOf(hub.pid) - before;
      },
    );
    return figures({ conversations, direct, relayed, calls, cpuMs: cpu.ms, counted: await countedBy(hub) });
  } finally {
    await hub.stop();
    removeDataDir(hub.dataDir);
  }
}

/** Lets the devices talk; `beside` runs meanwhile and receives the counted time. */
async function talk(
  server: Child,
  request: ConnectRequest,
  beside?: (from: number, until: number) => Promise<void>,
): Promise<Talk> {
  const devices = new Child('./devices.js');
  try {
    await devices.ask(request);
    await server.ask<ServerReport>({});
    const countFrom = now() + WARM_UP_MS;
    const when: SpeakRequest = { countFrom, until: countFrom + COUNTED_MS };
    const [report] = await Promise.all([devices.ask<DevicesReport>(when), beside?.(when.countFrom, when.until)]);
    return { devices: report, server: await server.ask<ServerReport>({}) };
  } finally {
    await devices.stop();
  }
}

async function latenciesOfCalls(hub: HubProcess, conversations: number, until: number): Promise<readonly number[]> {
  const latencies: number[] = [];
  for (let index = 0; now() < until; index += 1) {
    const before = now();
    const input = { deviceId: macOf(index % conversations), tool: lamp.name };
    const { callTool } = await ask<{ callTool: { call: { outcome: string } | null } }>(hub, CALL, { input });
    if (callTool.call?.outcome !== 'SUCCEEDED') throw new Error(`callTool answered ${JSON.stringify(callTool)}`);
    latencies.push(now() - before);
    await pause(before + CALL_EVERY_MS - now());
  }
  return latencies;
}

/** Packets that the hub counted as dropped, missing or not sent. */
async function countedBy(hub: HubProcess): Promise<number> {
  const sums = await metricSums(hub, 'flotilla_gateway_events_total', 'name');
  return [...sums]
    .filter(
      ([name]) =>
        name === 'udp_packets_dropped' || name.startsWith('voice_frames_dropped_') || name === 'voice_frames_lost',
    )
    .reduce((sum, [, count]) => sum + count, 0);
}

interface Measured {
  readonly conversations: number;
  readonly direct: Talk;
  readonly relayed: Talk;
  readonly calls: readonly number[];
  readonly cpuMs: number;
  readonly counted: number;
}

function figures({ conversations, direct, relayed, calls, cpuMs, counted }: Measured): readonly Figure[] {
  const ways = [
    ['to the voice server', direct.server.heard, relayed.server.heard],
    ['to the devices', direct.devices.heard, relayed.devices.heard],
  ] as const;
  const latencies = ways.flatMap(([way, without, through]): Figure[] => [
    { name: `voice ${way}, without a hub, p50`, value: without.p50, unit: 'ms' },
    { name: `voice ${way}, without a hub, p99`, value: without.p99, unit: 'ms' },
    { name: `voice ${way}, added by the hub, p50`, value: through.p50 - without.p50, unit: 'ms' },
    { name: `voice ${way}, added by the hub, p99`, value: through.p99 - without.p99, unit: 'ms', atMost: 10 },
  ]);
  const packets = relayed.server.heard.count + relayed.devices.heard.count;
  const lost = relayed.devices.spoken - relayed.devices.heard.count;
  return [
    { name: 'conversations at once', value: conversations, unit: '' },
    ...latencies,
    { name: 'voice packets, both ways', value: packets / (COUNTED_MS / 1_000), unit: '/s' },
    { name: 'voice packets lost, there or back', value: lost, unit: 'packets' },
    {
      name: 'voice packets lost that the hub did not count',
      value: Math.max(0, lost - counted),
      unit: 'packets',
      atMost: 0,
    },
    { name: 'CPU of the hub while they talk', value: (cpuMs / COUNTED_MS) * 100, unit: '% of a core' },
    { name: 'CPU of the hub per voice packet, calls included', value: (cpuMs * 1_000) / packets, unit: 'µs' },
    {
      name: `calls to devices that talk, p99 of ${calls.length}`,
      value: quantile(calls, 0.99),
      unit: 'ms',
      atMost: 100,
    },
  ];
}

/** User and system time of a process; the kernel counts in ticks of 10 ms. */
function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}
