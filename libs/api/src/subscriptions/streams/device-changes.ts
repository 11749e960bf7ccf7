/** deviceChanged: devices as they are now, after something of them changed. Many changes of one device in a moment are one. */
import type { DeviceFilter, DeviceRow, FleetView } from '@flotilla/registry';
import type { ApiLogger } from '../../api-deps.js';
import type { FeedIndexes } from './feed-index.js';
import { liveStream } from './live-stream.js';
import { SubscriberQueue } from '../sockets/subscriber-queue.js';

/** Devices read with one statement. */
const readMax = 100;

export interface StreamSources {
  /** What the subscriber sees: asked for each value anew. */
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
        yield* await readMatching(sources, ids, filter);
    } finally {
      unsubscribe();
      logDropped(sources.logger, 'deviceChanged', changed.droppedCount);
    }
  });
}

export function logDropped(logger: ApiLogger, subscription: string, droppedCount: number): void {
  if (droppedCount > 0) logger.warn({ subscription, droppedCount }, 'a slow subscriber lost changes');
}

/** The row and the filter in one statement, so that a device that no longer matches is not shown. */
async function readMatching(
  { view }: StreamSources,
  ids: readonly string[],
  filter: DeviceFilter | undefined,
): Promise<readonly DeviceRow[]> {
  const wanted: DeviceFilter = filter ? { ids, any: [filter] } : { ids };
  return (await view.devices.page(wanted, 'ID_ASC', { first: readMax })).rows;
}
