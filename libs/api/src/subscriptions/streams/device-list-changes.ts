/**
 * deviceListChanged: devices that come into a list, change in it or leave it. The hub does not know
 * what a client shows, so it reports each device that does not match, but only once.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { likelyDialectOf, type DeviceId } from '@flotilla/mcp';
import type { DeviceFilter, DeviceRow } from '@flotilla/registry';
import { LRUCache } from 'lru-cache';
import { SubscriberQueue } from '../sockets/subscriber-queue.js';
import { logDropped, type StreamSources } from './device-changes.js';
import { liveStream } from './live-stream.js';
import { readPatiently } from './read-patiently.js';

export interface DeviceListChange {
  readonly device: DeviceRow;
  /** False: the device does not match the filter, or was removed. */
  readonly matches: boolean;
}

/** Devices read with one statement. */
const readMax = 100;
/** Ms between two reads, in which changes gather. A full read does not wait. */
const gatherMs = 250;
/** Devices whose latest report is kept, per subscription. A forgotten one is reported again. */
const rememberedMax = 10_000;

export function deviceListChanges(
  sources: StreamSources,
  filter: DeviceFilter | undefined,
): AsyncGenerator<DeviceListChange, void, void> {
  return liveStream(async function* (signal) {
    const changed = new SubscriberQueue<DeviceId>(sources.queueMax);
    const unsubscribe = sources.feed.devices.subscribe(filter?.ids, ({ deviceId }) => changed.push(deviceId, deviceId));
    signal.addEventListener('abort', () => changed.close());
    const reported = new LRUCache<DeviceId, boolean>({ max: rememberedMax });
    try {
      for (let ids = await changed.take(readMax); ids; ids = await changed.take(readMax)) {
        for (const change of await readPatiently(signal, () => readChanges(sources, ids, filter, reported))) {
          reported.set(change.device.id, change.matches);
          yield change;
        }
        if (ids.length < readMax) await pause(gatherMs, undefined, { signal, ref: false }).catch(() => undefined);
      }
    } finally {
      unsubscribe();
      logDropped(sources.logger, 'deviceListChanged', changed.droppedCount);
    }
  });
}

/**
 * A key with an access scope receives a device that it cannot see only if this subscription has
 * shown it: otherwise it would learn ids of other devices.
 */
async function readChanges(
  { view }: StreamSources,
  ids: readonly DeviceId[],
  filter: DeviceFilter | undefined,
  reported: LRUCache<DeviceId, boolean>,
): Promise<readonly DeviceListChange[]> {
  const wanted: DeviceFilter = filter ? { ids, any: [filter] } : { ids };
  const { rows } = await view.devices.page(wanted, 'ID_ASC', { first: readMax });
  const matching = new Set(rows.map(({ id }) => id));
  const others = ids.filter((id) => !matching.has(id) && reported.get(id) !== false);
  const found = others.length === 0 ? [] : await view.devices.findMany(others);
  const isScoped = view.events.startsOf !== undefined;
  const left = others.flatMap((id, place) => {
    const device = found[place] ?? (isScoped && reported.get(id) !== true ? undefined : withoutRow(id));
    return device === undefined ? [] : [{ device, matches: false }];
  });
  return [...rows.map((device) => ({ device, matches: true })), ...left];
}

/** A device that was removed, or that the viewer may no longer see: only its id is known. */
export function withoutRow(id: DeviceId): DeviceRow {
  return {
    id,
    dialect: likelyDialectOf(id),
    presence: 'OFFLINE',
    reachability: 'ALWAYS',
    tags: [],
    voiceUrls: [],
    toolsStale: false,
    epoch: 0,
    name: undefined,
    model: undefined,
    firmwareVersion: undefined,
    transport: undefined,
    connectedAt: undefined,
    lastSeenAt: undefined,
    timeZone: undefined,
    toolSetHash: undefined,
    toolsDiscoveredAt: undefined,
    reportedState: undefined,
    reportedStateAt: undefined,
  };
}
