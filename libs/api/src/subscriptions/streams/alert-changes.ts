/** alertChanged: alerts as they are now, after they fired, were acknowledged or resolved. */
import type { AlertFilter, AlertRow, Registry } from '@flotilla/registry';
import { SubscriberQueue } from '../sockets/subscriber-queue.js';
import { logDropped, type StreamSources } from './device-changes.js';
import { liveStream } from './live-stream.js';
import { readPatiently } from './read-patiently.js';

/** Alerts read with one statement. */
const readMax = 100;

export function alertChanges(
  { alerts, feed, logger, queueMax }: StreamSources & { readonly alerts: Pick<Registry['alerts'], 'page'> },
  filter: AlertFilter,
): AsyncGenerator<AlertRow, void, void> {
  return liveStream(async function* (signal) {
    const changed = new SubscriberQueue<string>(queueMax);
    const unsubscribe = feed.events.subscribe(undefined, ({ type, data }) => {
      const id = data['alertId'];
      if (type.startsWith('alert.') && typeof id === 'string') changed.push(id, id);
    });
    signal.addEventListener('abort', () => changed.close());
    try {
      for (let ids = await changed.take(readMax); ids; ids = await changed.take(readMax))
        yield* (await readPatiently(signal, () => alerts.page({ ...filter, ids }, { first: readMax }))).rows;
    } finally {
      unsubscribe();
      logDropped(logger, 'alertChanged', changed.droppedCount);
    }
  });
}
