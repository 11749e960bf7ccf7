/** Bench (g): conversations at once through the hub, half over WebSocket and half over MQTT with UDP, a packet every 60 ms each way, and calls to the same devices. */
import { openEchoServer } from '@flotilla/test/echo-server';
import { ask } from '@flotilla/test/graphql-client';
import { removeDataDir, startHub, type HubProcess } from '@flotilla/test/hub-process';
import { metric } from '@flotilla/test/metrics';
import { talkOverMqtt, talkOverWebSocket, type TalkingDevice } from '@flotilla/test/talking-device';
import { lamp } from '@flotilla/test/firmware';
import type { Figure } from './report.js';

const CONVERSATIONS = 500;
const PACKET_MS = 60;
const PACKET_BYTES = 120;
const SECONDS = 10;
const CALLS = 300;
/** Devices that say hello at a time. */
const AT_A_TIME = 50;

const CALL = `mutation ($input: CallToolInput!) { callTool(input: $input) { call { outcome error { message } } userErrors { message } } }`;

const macOf = (index: number) =>
  `02:00:0${index % 2}:00:${(index >> 8).toString(16).padStart(2, '0')}:${(index & 0xff).toString(16).padStart(2, '0')}`;

/** Both ends of a conversation are in this process, so that they have one clock: what it adds itself is in the figure. */
export async function benchConversations(): Promise<readonly Figure[]> {
  const echo = await openEchoServer();
  const hub = await startHub({ env: { FLOTILLA_VOICE_URL: echo.url, FLOTILLA_LOG_LEVEL: 'warn' } });
  const up: number[] = [];
  const down: number[] = [];
  echo.echo = (packet) => {
    up.push(performance.now() - packet.readDoubleBE(0));
    return stamped();
  };
  try {
    const devices = await connect(hub);
    for (const device of devices) device.onpacket = (packet) => down.push(performance.now() - packet.readDoubleBE(0));
    const endsAt = performance.now() + SECONDS * 1_000;
    const talking = Promise.all(devices.map((device) => speakUntil(device, endsAt)));
    const calls = await latenciesOfCalls(hub);
    const spoken = (await talking).reduce((sum, packets) => sum + packets, 0);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const counted = (name: string) => metric(hub, 'flotilla_gateway_events_total', `name="${name}"`);
    const dropped = (await counted('udp_packets_dropped')) + (await counted('voice_frames_dropped_backend_stalled'));
    for (const device of devices) device.drop();
    return [
      { name: `packets to the voice server, ${CONVERSATIONS} conversations, p99`, value: quantile(up, 0.99), unit: 'ms', atMost: 10 },
      { name: `packets to the devices, p99`, value: quantile(down, 0.99), unit: 'ms', atMost: 10 },
      { name: 'packets lost on the way there', value: spoken - up.length, unit: 'packets', atMost: 0 },
      { name: 'packets lost on the way back', value: up.length - down.length, unit: 'packets', atMost: 0 },
      { name: 'packets dropped by the hub', value: dropped, unit: 'packets', atMost: 0 },
      { name: 'calls to devices that talk, p99', value: quantile(calls, 0.99), unit: 'ms', atMost: 100 },
    ];
  } finally {
    await hub.stop();
    await echo.close();
    removeDataDir(hub.dataDir);
  }
}

async function connect(hub: HubProcess): Promise<readonly TalkingDevice[]> {
  const devices: TalkingDevice[] = [];
  for (let from = 0; from < CONVERSATIONS; from += AT_A_TIME) {
    const some = Array.from({ length: AT_A_TIME }, (_unused, offset) => from + offset);
    devices.push(...(await Promise.all(some.map((index) => (index % 2 === 0 ? talkOverWebSocket : talkOverMqtt)(hub, macOf(index))))));
  }
  return devices;
}

/** Says packets at the speed of speech, begun at a random moment. Returns how many. */
async function speakUntil(device: TalkingDevice, endsAt: number): Promise<number> {
  let packets = 0;
  await new Promise((resolve) => setTimeout(resolve, Math.random() * PACKET_MS));
  for (let nextAt = performance.now(); nextAt < endsAt; nextAt += PACKET_MS) {
    device.speak(stamped());
    packets += 1;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, nextAt + PACKET_MS - performance.now())));
  }
  return packets;
}

async function latenciesOfCalls(hub: HubProcess): Promise<readonly number[]> {
  const latencies: number[] = [];
  for (let index = 0; index < CALLS; index += 1) {
    const before = performance.now();
    const input = { deviceId: macOf(index), tool: lamp.name };
    const { callTool } = await ask<{ callTool: { call: { outcome: string } | null } }>(hub, CALL, { input });
    if (callTool.call?.outcome !== 'SUCCEEDED') throw new Error(`callTool answered ${JSON.stringify(callTool)}`);
    latencies.push(performance.now() - before);
  }
  return latencies;
}

function stamped(): Buffer {
  const packet = Buffer.alloc(PACKET_BYTES);
  packet.writeDoubleBE(performance.now(), 0);
  return packet;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
