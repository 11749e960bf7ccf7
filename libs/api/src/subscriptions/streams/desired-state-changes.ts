/**
 * desiredStateChanged: a desired state as it is now, then after each change of it or of its
 * summary, at most twice a second, until it is deleted.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { DesiredStateRow } from '@flotilla/registry';
import { SubscriberQueue } from '../sockets/subscriber-queue.js';
import type { StreamSources } from './device-changes.js';
import { liveStream } from './live-stream.js';
import { readPatiently } from './read-patiently.js';

/** At most two values a second. */
const intervalMs = 500;
/** The feed may lose a message, so the desired state is read now and then. */
const lookMs = 5_000;

export function desiredStateChanges(
  { view, feed }: Pick<StreamSources, 'view' | 'feed'>,
  id: string,
): AsyncGenerator<DesiredStateRow, void, void> {
  return liveStream(async function* (signal) {
    const changed = new SubscriberQueue<true>(1);
    const unsubscribe = feed.desiredStates.subscribe([id], () => changed.push(id, true));
    const look = setInterval(() => changed.push(id, true), lookMs).unref();
    signal.addEventListener('abort', () => changed.close());
    try {
      do {
        const state = await readPatiently(signal, () => view.desiredStates.find(id));
        if (!state) return;
        yield state;
        await pause(intervalMs, undefined, { signal, ref: false }).catch(() => undefined);
      } while (await changed.take(1));
    } finally {
      clearInterval(look);
      unsubscribe();
    }
  });
}
