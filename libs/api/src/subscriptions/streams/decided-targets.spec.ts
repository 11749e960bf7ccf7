import { describe, expect, it } from 'vitest';
import type { FeedTopics } from '@flotilla/bus';
import type { DeviceId, JobId } from '@flotilla/mcp';
import type { FleetView } from '@flotilla/registry';
import { decidedTargets } from './decided-targets.js';
import { indexFeed } from './feed-index.js';

type Listener = (message: FeedTopics['decided']) => void;
const jobId = 'j' as JobId;

/**
 * A job whose targets were all decided at once. Even ones are outside the access scope; of those
 * rejected during preparation, every third was called.
 */
function open(queueMax: number, refused = 0) {
  const listeners = new Map<string, Listener>();
  const feed = {
    publish: () => undefined,
    subscribe: (topic: string, listener: never) => {
      listeners.set(topic, listener);
      return () => listeners.delete(topic);
    },
  };
  const reads: number[] = [];
  const jobs = {
    find: () => Promise.resolve({ state: 'FINISHED', total: 1_000 }),
    progress: () => Promise.resolve(new Map([[jobId, { rejected: 0, skipped: refused, noChange: 0 }]])),
    targets: (
      _ids: unknown,
      { deviceIds }: { deviceIds?: readonly string[] },
      { first, after = '0' }: { first: number; after?: string },
    ) => {
      if (deviceIds === undefined) {
        const cursors = Array.from({ length: Math.min(first, refused - Number(after)) }, (_, index) =>
          String(Number(after) + index + 1),
        );
        const rows = cursors.map((deviceId) => ({ deviceId, attempts: Number(deviceId) % 3 === 0 ? 1 : 0 }));
        return Promise.resolve([{ rows, cursors, hasNextPage: Number(after) + first < refused }]);
      }
      reads.push(deviceIds.length);
      const rows = deviceIds.filter((id) => Number(id) % 2 === 1).map((deviceId) => ({ deviceId, state: 'DECIDED' }));
      return Promise.resolve([{ rows }]);
    },
  };
  const view = { jobs } as unknown as FleetView;
  const stream = decidedTargets({ view, feed: indexFeed(feed), queueMax }, { id: jobId, firmwareImageId: undefined });
  const tell = (of: JobId, count: number) =>
    listeners.get('decided')?.({
      jobId: of,
      deviceIds: Array.from({ length: count }, (_, index) => String(index) as DeviceId),
    });
  return { stream, tell, reads, listeners };
}

describe('decided targets', () => {
  it('come in bounded batches with time between them, the latest of too many, and end with the job', async () => {
    const { stream, tell, reads, listeners } = open(300);
    const first = stream.next();
    tell('another' as JobId, 50);
    tell(jobId, 1_000);
    const startedAt = Date.now();
    const told: string[] = [];
    for (let next = await first; !next.done; next = await stream.next())
      told.push(...next.value.map(({ deviceId }) => deviceId));
    expect(Math.max(...reads)).toBeLessThanOrEqual(200);
    expect(reads.reduce((sum, count) => sum + count)).toBe(299); // The look at the job has a place, too.
    expect(told).toEqual(Array.from({ length: 150 }, (_, index) => String(701 + index * 2)));
    expect(Date.now() - startedAt).toBeGreaterThan(400);
    expect(listeners.size).toBe(0);
  });

  it('begin with those that were refused beforehand, page by page', async () => {
    const { stream } = open(1_000, 300);
    const told: string[] = [];
    for await (const targets of stream) told.push(...targets.map(({ deviceId }) => deviceId));
    expect(told).toEqual(
      Array.from({ length: 150 }, (_, index) => String(1 + index * 2)).filter((id) => Number(id) % 3 !== 0),
    );
  });

  it('end at once for who leaves, although nothing was decided', async () => {
    const { stream, listeners } = open(10);
    const waiting = stream.next();
    await stream.return();
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(listeners.size).toBe(0);
  });
});
