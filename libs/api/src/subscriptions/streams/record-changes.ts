/** jobProgress and desiredStateChanged: one record as it is now, then after each change. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Job } from '@flotilla/jobs';
import type { DesiredStateRow } from '@flotilla/registry';
import { SubscriberQueue } from '../sockets/subscriber-queue.js';
import type { StreamSources } from './device-changes.js';
import { liveStream } from './live-stream.js';
import { readPatiently } from './read-patiently.js';

/** At most two values a second. */
const intervalMs = 500;
/** The feed may lose a message, so the record is read now and then. */
const lookMs = 5_000;

type Sources = Pick<StreamSources, 'view' | 'feed'>;

/** Ends after the value that shows the job FINISHED; shows nothing where there is no such job. */
export function jobChanges({ view, feed }: Sources, jobId: string): AsyncGenerator<Job, void, void> {
  return recordChanges({
    subscribe: (changed) => feed.jobs.subscribe([jobId], changed),
    read: () => view.jobs.find(jobId),
    isLast: ({ state }) => state === 'FINISHED',
  });
}

/** Also after each change of its summary. Ends when it is deleted. */
export function desiredStateChanges({ view, feed }: Sources, id: string): AsyncGenerator<DesiredStateRow, void, void> {
  return recordChanges({
    subscribe: (changed) => feed.desiredStates.subscribe([id], changed),
    read: () => view.desiredStates.find(id),
    isLast: () => false,
  });
}

interface RecordSource<Row> {
  /** Returns the function that ends it. */
  readonly subscribe: (changed: () => void) => () => void;
  readonly read: () => Promise<Row | undefined>;
  readonly isLast: (row: Row) => boolean;
}

function recordChanges<Row>({ subscribe, read, isLast }: RecordSource<Row>): AsyncGenerator<Row, void, void> {
  return liveStream(async function* (signal) {
    const changes = new SubscriberQueue<true>(1);
    const changed = () => changes.push('changed', true);
    const unsubscribe = subscribe(changed);
    const look = setInterval(changed, lookMs).unref();
    signal.addEventListener('abort', () => changes.close());
    try {
      do {
        const row = await readPatiently(signal, read);
        if (row === undefined) return;
        yield row;
        if (isLast(row)) return;
        await pause(intervalMs, undefined, { signal, ref: false }).catch(() => undefined);
      } while (await changes.take(1));
    } finally {
      clearInterval(look);
      unsubscribe();
    }
  });
}
