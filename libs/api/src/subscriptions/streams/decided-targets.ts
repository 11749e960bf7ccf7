/**
 * jobTargetsDecided: the targets of a job as its worker decides them, from the feed and without an
 * index. Preparation decides before a client can subscribe, so its rejected targets are read once.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Job } from '@flotilla/jobs';
import type { DeviceId, JobId } from '@flotilla/mcp';
import type { FleetView } from '@flotilla/registry';
import { rolloutIdOf, type TargetOfJob } from '../../jobs/job-target.resolver.js';
import type { StreamSources } from './device-changes.js';
import { liveStream } from './live-stream.js';
import { readPatiently } from './read-patiently.js';
import { SubscriberQueue } from '../sockets/subscriber-queue.js';

/** Targets of one value, read with one statement. */
const targetsMax = 200;
/** At most two values a second. */
const intervalMs = 500;
/** The feed may lose the end of the job, so it is looked for now and then anyway. */
const lookMs = 5_000;

/** Rejected targets that a subscriber receives first; more are in Job.targets. */
const refusedMax = 1_000;
/** What a target can be without ever having been sent, and where those are counted. */
const refusals = [
  ['REJECTED', 'rejected'],
  ['SKIPPED', 'skipped'],
  ['NO_CHANGE', 'noChange'],
] as const;

/** Stands among device ids for "look whether the job is over"; no id is empty. */
const look = '';

type Sources = Pick<StreamSources, 'view' | 'feed' | 'queueMax'>;

/**
 * Drops the oldest of a job that decides faster than this sends. Ends one interval after the job
 * FINISHED or is gone, so that messages in flight still arrive.
 */
export function decidedTargets(
  sources: Sources,
  job: Pick<Job, 'id' | 'firmwareImageId'>,
): AsyncGenerator<readonly TargetOfJob[], void, void> {
  const { id: jobId } = job;
  const { view, feed, queueMax } = sources;
  return liveStream(async function* (signal) {
    const queue = new SubscriberQueue<DeviceId | typeof look>(queueMax);
    const lookSoon = (): void => queue.push(look, look);
    const ends = [
      feed.decided.subscribe([jobId], ({ deviceIds }) => {
        for (const id of deviceIds) queue.push(id, id);
      }),
      feed.jobs.subscribe([jobId], lookSoon),
    ];
    const timer = setInterval(lookSoon, lookMs).unref();
    signal.addEventListener('abort', () => queue.close());
    lookSoon();
    try {
      let [isPrepared, isOver] = [false, false];
      for (let taken = await queue.take(targetsMax); taken; taken = await queue.take(targetsMax)) {
        const ids = taken.filter((item): item is DeviceId => item !== look);
        if (ids.length > 0) {
          const rows = await readPatiently(signal, () => readDecided(sources, job, ids));
          if (rows.length > 0) yield rows;
        }
        if (isOver && taken.length < targetsMax) return;
        if (!isOver && ids.length < taken.length) {
          const found = await readPatiently(signal, () => view.jobs.find(jobId));
          isOver = found === undefined || found.state === 'FINISHED';
          if (!isPrepared && found?.total !== undefined) {
            isPrepared = true;
            const refused = await readPatiently(signal, () => refusedBeforehand(view, jobId));
            for (const id of refused) queue.push(id, id);
          }
        }
        if (isOver) lookSoon();
        await pause(intervalMs, undefined, { signal, ref: false }).catch(() => undefined);
      }
    } finally {
      clearInterval(timer);
      for (const end of ends) end();
    }
  });
}

/** The counters show an empty list without a look at the targets. */
async function refusedBeforehand(view: FleetView, jobId: JobId): Promise<readonly DeviceId[]> {
  const progress = (await view.jobs.progress([jobId])).get(jobId);
  const outcomes = refusals.filter(([, counter]) => (progress?.[counter] ?? 0) > 0).map(([outcome]) => outcome);
  const refused: DeviceId[] = [];
  for (let after: string | undefined, more = outcomes.length > 0; more && refused.length < refusedMax;) {
    const [page] = await view.jobs.targets(
      [jobId],
      { outcomes },
      { first: targetsMax, ...(after !== undefined && { after }) },
    );
    if (page === undefined) break;
    for (const { deviceId, attempts } of page.rows) if (attempts === 0) refused.push(deviceId);
    after = page.cursors.at(-1);
    more = page.hasNextPage;
  }
  return refused;
}

/** Those that the subscriber sees. */
async function readDecided(
  { view }: Sources,
  job: Pick<Job, 'id' | 'firmwareImageId'>,
  deviceIds: readonly DeviceId[],
): Promise<readonly TargetOfJob[]> {
  const [page] = await view.jobs.targets([job.id], { deviceIds }, { first: targetsMax });
  const decided = page?.rows.filter(({ state }) => state === 'DECIDED') ?? [];
  return decided.map((row) => ({ ...row, rolloutId: rolloutIdOf(job) }));
}
