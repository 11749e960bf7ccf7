/**
 * jobProgress: a job as it is now, then after each change, at most twice a second, until its end.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Job } from '@flotilla/jobs';
import { liveStream } from './live-stream.js';
import type { StreamSources } from './device-changes.js';
import { readPatiently } from './read-patiently.js';
import { SubscriberQueue } from '../sockets/subscriber-queue.js';

/** At most two values a second. */
const intervalMs = 500;
/** The feed may lose a message, so the job is looked at now and then anyway. */
const lookMs = 5_000;

/** Ends after the value that shows the job FINISHED; shows nothing where there is no such job. */
export function jobChanges(
  { view, feed }: Pick<StreamSources, 'view' | 'feed'>,
  jobId: string,
): AsyncGenerator<Job, void, void> {
  return liveStream(async function* (signal) {
    const changed = new SubscriberQueue<true>(1);
    const unsubscribe = feed.jobs.subscribe([jobId], () => changed.push(jobId, true));
    const look = setInterval(() => changed.push(jobId, true), lookMs).unref();
    signal.addEventListener('abort', () => changed.close());
    try {
      do {
        const job = await readPatiently(signal, () => view.jobs.find(jobId));
        if (!job) return;
        yield job;
        if (job.state === 'FINISHED') return;
        await pause(intervalMs, undefined, { signal, ref: false }).catch(() => undefined);
      } while (await changed.take(1));
    } finally {
      clearInterval(look);
      unsubscribe();
    }
  });
}
