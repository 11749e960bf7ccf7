/**
 * deviceChanged: devices as they are now, after a change. Many changes of one device within a
 * moment are sent once.
 */
import type { DeviceFilter, DeviceRow, FleetView } from '@flotilla/registry';
import type { ApiLogger } from '../../api-logger.js';
import type { FeedIndexes } from './feed-index.js';
import { liveStream } from './live-stream.js';
import { readPatiently } from './read-patiently.js';
import { SubscriberQueue } from '../sockets/subscriber-queue.js';

/** Devices read with one statement. */
const readMax = 100;

export interface StreamSources {
  /** Read again for each value, because the access scope can change. */
  readonly view: FleetView;
  readonly feed: FeedIndexes;
  readonly logger: ApiLogger;
  readonly queueMax: number;
}

export function deviceChanges(
  sources: StreamSources,
  filter: DeviceFilter | undefined,
): AsyncGenerator<DeviceRow, void, void> {
  return liveStream(async function* (signal) {
    const changed = new SubscriberQueue<string>(sources.queueMax);
    const unsubscribe = sources.feed.devices.subscribe(filter?.ids, ({ deviceId }) => changed.push(deviceId, deviceId));
    signal.addEventListener('abort', () => changed.close());
    try {
      for (let ids = await changed.take(readMax); ids; ids = await changed.take(readMax))
        yield* await readPatiently(signal, () => readMatching(sources, ids, filter));
    } finally {
      unsubscribe();
      logDropped(sources.logger, 'deviceChanged', changed.droppedCount);
    }
  });
}

export function logDropped(logger: ApiLogger, subscription: string, droppedCount: number): void {
  if (droppedCount > 0) logger.warn({ subscription, droppedCount }, 'a slow subscriber lost changes');
}

/**
 * One statement for the row and the filter, so that a device that no longer matches is not sent.
 */
async function readMatching(
  { view }: StreamSources,
  ids: readonly string[],
  filter: DeviceFilter | undefined,
): Promise<readonly DeviceRow[]> {
  const wanted: DeviceFilter = filter ? { ids, any: [filter] } : { ids };
  return (await view.devices.page(wanted, 'ID_ASC', { first: readMax })).rows;
}
