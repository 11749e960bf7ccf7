/**
 * What live subscribers cost the calls beside them, on one built hub at 2,000 events a second: 1,000 subscribers to one device each, then 20 to everything.
 * Each is compared with the same hub and the same events without subscribers, just before and just after. `--only subscribers`.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { eventually } from '@flotilla/test/eventually';
import { ask } from '@flotilla/test/api/graphql-client';
import { makeDataDir, removeDataDir, startHub, type HubProcess } from '@flotilla/test/hub/hub-process';
import { startFleet, type SimulatedFleet } from '@flotilla/test/devices/simulated-fleet';
import { callOverHttp } from '../http-calls.js';
import type { Figure } from '../report.js';
import type { SubscriberNews, SubscriberOrder } from './subscriber-messages.js';

/** Each notifies once a second, the most that a device may. */
const DEVICES = 2_000;
const EVERY_MS = 50;
const SUBSCRIBERS = { ofDevices: 1_000, unfiltered: 20 } as const;
/** Before figures are taken: the hub has closed sockets, or opened them. */
const SETTLE_MS = 2_000;
const CALLS = { total: 4_000, concurrency: 16, seconds: 10, mayBeRefused: true } as const;
/** Devices that are called; they notify as well. */
const CALLED = 64;

export async function benchSubscribers(): Promise<readonly Figure[]> {
  const dataDir = makeDataDir();
  const hub = await startHub({ dataDir, env: { FLOTILLA_LOG_LEVEL: 'warn', FLOTILLA_BUDGET_POINTS: '100000000' } });
  const fleet = startFleet(hub, { devices: DEVICES });
  try {
    const ids = await onlineDevices(hub);
    const stop = notifyAlways(fleet, ids);
    try {
      await callOverHttp(hub, ids.slice(0, CALLED), CALLS);
      const ofDevices = { deviceIds: ids.slice(0, SUBSCRIBERS.ofDevices), unfiltered: 0 };
      return [
        ...(await beside(hub, ids, `${SUBSCRIBERS.ofDevices} subscribers to a device each`, ofDevices)),
        ...(await beside(hub, ids, `${SUBSCRIBERS.unfiltered} subscribers to all events`, {
          deviceIds: [],
          unfiltered: SUBSCRIBERS.unfiltered,
        })),
      ];
    } finally {
      stop();
    }
  } finally {
    await fleet.stop();
    await hub.stop();
    removeDataDir(dataDir);
  }
}

async function onlineDevices(hub: HubProcess): Promise<readonly string[]> {
  const count = () => ask<{ fleetSummary: { onlineCount: number } }>(hub, '{ fleetSummary { onlineCount } }');
  await eventually(count, ({ fleetSummary }) => fleetSummary.onlineCount === DEVICES, 120_000);
  const ids: string[] = [];
  for (let after: string | null = null; ids.length < DEVICES;) {
    const query = 'query ($after: String) { devices(first: 200, after: $after) { nodes { id } pageInfo { endCursor } } }';
    const page: { devices: { nodes: { id: string }[]; pageInfo: { endCursor: string } } } = await ask(hub, query, { after });
    ids.push(...page.devices.nodes.map(({ id }) => id));
    after = page.devices.pageInfo.endCursor;
  }
  return ids;
}

/** A share of the fleet at a time, so that it is no burst. */
function notifyAlways(fleet: SimulatedFleet, ids: readonly string[]): () => void {
  const turns = 1_000 / EVERY_MS;
  let turn = 0;
  const timer = setInterval(() => {
    const share = ids.filter((_id, index) => index % turns === turn % turns);
    for (const device of share)
      fleet.command({ cmd: 'behaviour', device, behaviour: { kind: 'notification', method: 'bench/tick', params: { turn } } });
    turn++;
  }, EVERY_MS);
  return () => clearInterval(timer);
}

interface Measured {
  readonly callsPerSecond: number;
  readonly callsRefused: number;
  /** Seconds of the hub's processor per second. */
  readonly load: number;
  readonly eventsPerSecond: number;
  readonly ended: number;
}

async function beside(
  hub: HubProcess,
  ids: readonly string[],
  name: string,
  wanted: Pick<SubscriberOrder, 'deviceIds' | 'unfiltered'>,
): Promise<readonly Figure[]> {
  const before = await measured(hub, ids);
  const child = fork(fileURLToPath(new URL('subscriber-process.js', import.meta.url)), { stdio: ['ignore', 2, 2, 'ipc'] });
  child.send({ httpUrl: hub.httpUrl, adminKey: hub.adminKey, ...wanted } satisfies SubscriberOrder);
  const during = await measured(hub, ids, child);
  child.kill();
  const after = await measured(hub, ids);
  const without = (before.callsPerSecond + after.callsPerSecond) / 2;
  return [
    { name: `callTool over HTTP at ${DEVICES} events/s, without subscribers`, value: without, unit: 'calls/s' },
    { name: `callTool over HTTP beside ${name}`, value: during.callsPerSecond, unit: 'calls/s' },
    { name: `callTool over HTTP beside ${name} / without`, value: during.callsPerSecond / without, unit: '', atLeast: 0.8 },
    { name: `calls refused beside ${name}`, value: during.callsRefused, unit: '', atMost: 0 },
    { name: `${name}, subscriptions that ended`, value: during.ended, unit: '', atMost: 0 },
    { name: `${name}, events shown`, value: during.eventsPerSecond, unit: '/s' },
    { name: `CPU of the hub without subscribers`, value: (before.load + after.load) / 2, unit: 's/s' },
    { name: `CPU of the hub beside ${name}`, value: during.load, unit: 's/s' },
  ];
}

async function measured(hub: HubProcess, ids: readonly string[], subscribers?: ChildProcess): Promise<Measured> {
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const [startedAt, cpu, seen] = [performance.now(), cpuSeconds(hub), await newsOf(subscribers)];
  const { perSecond, refused } = await callOverHttp(hub, ids.slice(0, CALLED), CALLS);
  const { received, ended } = await newsOf(subscribers);
  const seconds = (performance.now() - startedAt) / 1_000;
  return {
    callsPerSecond: perSecond,
    callsRefused: refused,
    load: (cpuSeconds(hub) - cpu) / seconds,
    eventsPerSecond: (received - seen.received) / seconds,
    ended,
  };
}

async function newsOf(subscribers: ChildProcess | undefined): Promise<SubscriberNews> {
  if (subscribers === undefined) return { received: 0, ended: 0 };
  const news = new Promise<SubscriberNews>((resolve) => subscribers.once('message', (message: SubscriberNews) => resolve(message)));
  subscribers.send('count');
  return news;
}

/** Of the hub process, in hundredths as Linux counts them. */
function cpuSeconds({ pid }: HubProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
