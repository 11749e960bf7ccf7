/**
 * Measures how live subscribers slow down calls on a built hub at 2,000 events a second: 1,000
 * subscribers to one device each, then 20 to all. Windows with and without subscribers alternate,
 * so that other load affects both. `--only subscribers`.
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

/** Each sends one notification per second, the maximum for a device. */
const DEVICES = 2_000;
const EVERY_MS = 50;
const SUBSCRIBERS = { ofDevices: 1_000, unfiltered: 20 } as const;
/** Windows with subscribers; as many are without. */
const ROUNDS = 3;
const WINDOW_SECONDS = 4;
/** Pause before a window, in which the hub closes sockets and the call rate settles. */
const SETTLE_SECONDS = 1;
const CALLS = { total: Infinity, concurrency: 16, mayBeRefused: true } as const;
const WARM_UP_SECONDS = 6;
/** Time in which each subscriber receives an event, ms. */
const SUBSCRIBED_WITHIN_MS = 20_000;
/** Devices that are called; they also send notifications. */
const CALLED = 64;

export async function benchSubscribers(): Promise<readonly Figure[]> {
  const dataDir = makeDataDir();
  const hub = await startHub({ dataDir, env: { FLOTILLA_LOG_LEVEL: 'warn', FLOTILLA_BUDGET_POINTS: '100000000' } });
  const fleet = startFleet(hub, { devices: DEVICES });
  try {
    const ids = await onlineDevices(hub);
    const stop = notifyAlways(fleet, ids);
    try {
      const called = ids.slice(0, CALLED);
      await callOverHttp(hub, called, { ...CALLS, seconds: WARM_UP_SECONDS });
      return [
        ...(await beside(
          hub,
          called,
          `${SUBSCRIBERS.ofDevices} subscribers to a device each`,
          ids.slice(0, SUBSCRIBERS.ofDevices),
        )),
        ...(await beside(hub, called, `${SUBSCRIBERS.unfiltered} subscribers to all events`, 'all')),
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
    const query =
      'query ($after: String) { devices(first: 200, after: $after) { nodes { id } pageInfo { endCursor } } }';
    const page: { devices: { nodes: { id: string }[]; pageInfo: { endCursor: string } } } = await ask(hub, query, {
      after,
    });
    ids.push(...page.devices.nodes.map(({ id }) => id));
    after = page.devices.pageInfo.endCursor;
  }
  return ids;
}

/** Starts the fleet in parts to avoid a burst. */
function notifyAlways(fleet: SimulatedFleet, ids: readonly string[]): () => void {
  const turns = 1_000 / EVERY_MS;
  let turn = 0;
  const timer = setInterval(() => {
    const share = ids.filter((_id, index) => index % turns === turn % turns);
    for (const device of share)
      fleet.command({
        cmd: 'behaviour',
        device,
        behaviour: { kind: 'notification', method: 'bench/tick', params: { turn } },
      });
    turn++;
  }, EVERY_MS);
  return () => clearInterval(timer);
}

/** Sums over windows. */
interface Measured {
  readonly seconds: number;
  readonly calls: number;
  readonly refused: number;
  /** CPU of the hub process, s. */
  readonly processor: number;
  readonly shown: number;
  readonly failed: number;
}

const nothing: Measured = { seconds: 0, calls: 0, refused: 0, processor: 0, shown: 0, failed: 0 };

/** `subscribedTo`: devices with one subscriber each, or subscribers to everything. */
async function beside(
  hub: HubProcess,
  called: readonly string[],
  name: string,
  subscribedTo: readonly string[] | 'all',
): Promise<readonly Figure[]> {
  const child = fork(fileURLToPath(new URL('subscriber-process.js', import.meta.url)), {
    stdio: ['ignore', 2, 2, 'ipc'],
  });
  const isAll = subscribedTo === 'all';
  const order = { httpUrl: hub.httpUrl, adminKey: hub.adminKey, deviceIds: isAll ? [] : subscribedTo };
  const noSubscribers: SubscriberOrder = { ...order, deviceIds: [], unfiltered: 0 };
  const allSubscribers: SubscriberOrder = { ...order, unfiltered: isAll ? SUBSCRIBERS.unfiltered : 0 };
  let [without, during] = [nothing, nothing];
  for (let round = 0; round < ROUNDS; round++) {
    child.send(noSubscribers);
    without = plus(without, await measured(hub, called, child));
    child.send(allSubscribers);
    const expected = isAll ? SUBSCRIBERS.unfiltered : subscribedTo.length;
    await eventually(
      () => newsOf(child),
      ({ served }) => served === expected,
      SUBSCRIBED_WITHIN_MS,
    );
    during = plus(during, await measured(hub, called, child));
  }
  child.kill();
  return figuresOf(name, without, during);
}

function figuresOf(name: string, without: Measured, during: Measured): readonly Figure[] {
  const callsPerSecond = without.calls / without.seconds;
  return [
    { name: `callTool over HTTP at ${DEVICES} events/s, without subscribers`, value: callsPerSecond, unit: 'calls/s' },
    { name: `callTool over HTTP beside ${name}`, value: during.calls / during.seconds, unit: 'calls/s' },
    {
      name: `callTool over HTTP beside ${name} / without`,
      value: during.calls / during.seconds / callsPerSecond,
      unit: '',
      atLeast: 0.8,
    },
    { name: `calls refused beside ${name}`, value: during.refused, unit: '', atMost: 0 },
    { name: `${name}, subscriptions that failed`, value: during.failed, unit: '', atMost: 0 },
    { name: `${name}, events shown`, value: during.shown / during.seconds, unit: '/s' },
    { name: `CPU of the hub without subscribers`, value: without.processor / without.seconds, unit: 's/s' },
    { name: `CPU of the hub beside ${name}`, value: during.processor / during.seconds, unit: 's/s' },
  ];
}

async function measured(hub: HubProcess, called: readonly string[], subscribers: ChildProcess): Promise<Measured> {
  await callOverHttp(hub, called, { ...CALLS, seconds: SETTLE_SECONDS });
  const [startedAt, processor, seen] = [performance.now(), cpuSeconds(hub), await newsOf(subscribers)];
  const { perSecond, refused } = await callOverHttp(hub, called, { ...CALLS, seconds: WINDOW_SECONDS });
  const { received, failed } = await newsOf(subscribers);
  const seconds = (performance.now() - startedAt) / 1_000;
  return {
    seconds,
    calls: perSecond * seconds,
    refused,
    processor: cpuSeconds(hub) - processor,
    shown: received - seen.received,
    failed,
  };
}

function plus(a: Measured, b: Measured): Measured {
  return {
    seconds: a.seconds + b.seconds,
    calls: a.calls + b.calls,
    refused: a.refused + b.refused,
    processor: a.processor + b.processor,
    shown: a.shown + b.shown,
    failed: a.failed + b.failed,
  };
}

async function newsOf(subscribers: ChildProcess): Promise<SubscriberNews> {
  const news = new Promise<SubscriberNews>((resolve) =>
    subscribers.once('message', (message: SubscriberNews) => resolve(message)),
  );
  subscribers.send('count');
  return news;
}

/** CPU time of the hub process, which Linux counts in hundredths of a second. */
function cpuSeconds({ pid }: HubProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
