/** The contract of the feed, for every implementation. */
import type { CallId, DeviceId, JobId } from '@flotilla/mcp';
import { describe, expect, it } from 'vitest';
import type { BusHarness } from '../bus-harness.suite.js';
import type { EventFeed, FeedEvent, FeedTopics } from './feed.js';

const jobMessage = (id: string): FeedTopics['job'] => ({ jobId: id as JobId });

/** Resolves with all messages of the job topic when the one with the last id has arrived. */
function jobsUntil(feed: EventFeed, last: string): Promise<readonly string[]> {
  return new Promise((resolve) => {
    const seen: string[] = [];
    const end = feed.subscribe('job', ({ jobId }) => {
      seen.push(jobId);
      if (jobId !== last) return;
      end();
      resolve(seen);
    });
  });
}

export function describeFeed(harness: BusHarness): void {
  describe(`feed (${harness.name})`, () => {
    it('delivers each message once to every subscriber here and there, in order of publishing', async () => {
      const { here, there } = harness.buses();
      const all = [jobsUntil(here.feed, 'c'), jobsUntil(there.feed, 'c')];
      for (const id of ['a', 'b', 'c']) here.feed.publish('job', jobMessage(id));
      expect(await Promise.all(all)).toEqual([
        ['a', 'b', 'c'],
        ['a', 'b', 'c'],
      ]);
    });

    it('gathers for a listener that requests it, without loss or reordering', async () => {
      const { here } = harness.buses();
      const turns: string[][] = [];
      const seen = new Promise<void>((resolve) => {
        let isSameTurn = false;
        here.feed.subscribe(
          'job',
          ({ jobId }) => {
            if (!isSameTurn) turns.push([]);
            isSameTurn = true;
            setImmediate(() => (isSameTurn = false));
            turns.at(-1)?.push(jobId);
            if (jobId === 'c') resolve();
          },
          { gatherMs: 100 },
        );
      });
      here.feed.publish('job', jobMessage('a'));
      setTimeout(() => here.feed.publish('job', jobMessage('b')), 1);
      setTimeout(() => here.feed.publish('job', jobMessage('c')), 2);
      await seen;
      expect(turns).toEqual([['a', 'b', 'c']]);
    });

    it('carries a late answer unchanged', async () => {
      const { here, there } = harness.buses();
      const result = { content: [{ type: 'text', text: 'true' }], isError: false };
      const late: FeedTopics['lateAnswer'] = {
        callId: 'call-1' as CallId,
        outcome: { kind: 'SUCCEEDED', certainty: 'YES', result },
      };
      const seen = new Promise<FeedTopics['lateAnswer']>((resolve) => there.feed.subscribe('lateAnswer', resolve));
      here.feed.publish('lateAnswer', late);
      expect(await seen).toEqual(late);
    });

    it('carries an event unchanged, also one without a device', async () => {
      const { here, there } = harness.buses();
      const event: FeedEvent = {
        id: 'e-1',
        type: 'hub.started',
        deviceId: undefined,
        at: 5,
        data: { nested: { list: [1, 'two'] } },
      };
      const seen = new Promise<FeedEvent>((resolve) => there.feed.subscribe('event', resolve));
      here.feed.publish('event', event);
      expect(await seen).toEqual(event);
    });

    it('separates topics and keeps presence with its device', async () => {
      const { here, there } = harness.buses();
      const seen = new Promise<FeedTopics['device']>((resolve) => there.feed.subscribe('device', resolve));
      here.feed.publish('job', jobMessage('elsewhere'));
      here.feed.publish('device', { deviceId: 'd-1' as DeviceId, presence: 'ONLINE' });
      expect(await seen).toEqual({ deviceId: 'd-1', presence: 'ONLINE' });
    });

    it('carries the epoch of a new session', async () => {
      const { here, there } = harness.buses();
      const seen = new Promise<FeedTopics['session']>((resolve) => there.feed.subscribe('session', resolve));
      here.feed.publish('session', { deviceId: 'd-1' as DeviceId, epoch: 7 });
      expect(await seen).toEqual({ deviceId: 'd-1', epoch: 7 });
    });

    it('carries the log of a session, and the request for it', async () => {
      const { here, there } = harness.buses();
      const wanted: FeedTopics['sessionLogWanted'] = { deviceId: 'd-1' as DeviceId, forMs: 15_000 };
      const entry: FeedTopics['sessionLog'] = {
        deviceId: 'd-1' as DeviceId,
        at: 5,
        kind: 'SENT',
        text: '{"jsonrpc":"2.0"}',
        bytes: 17,
        isTruncated: false,
      };
      const seenRequest = new Promise<FeedTopics['sessionLogWanted']>((resolve) =>
        there.feed.subscribe('sessionLogWanted', resolve),
      );
      const seenEntry = new Promise<FeedTopics['sessionLog']>((resolve) => there.feed.subscribe('sessionLog', resolve));
      here.feed.publish('sessionLogWanted', wanted);
      here.feed.publish('sessionLog', entry);
      expect(await seenRequest).toEqual(wanted);
      expect(await seenEntry).toEqual(entry);
    });

    it('carries which targets of a job were decided', async () => {
      const { here, there } = harness.buses();
      const decided: FeedTopics['decided'] = {
        jobId: 'j-1' as JobId,
        deviceIds: ['d-1', 'd-2'] as unknown as readonly DeviceId[],
      };
      const seen = new Promise<FeedTopics['decided']>((resolve) => there.feed.subscribe('decided', resolve));
      here.feed.publish('decided', decided);
      expect(await seen).toEqual(decided);
    });

    it('carries that a device must be disconnected', async () => {
      const { here, there } = harness.buses();
      const seen = new Promise<FeedTopics['expelled']>((resolve) => there.feed.subscribe('expelled', resolve));
      here.feed.publish('expelled', { deviceId: 'd-1' as DeviceId });
      expect(await seen).toEqual({ deviceId: 'd-1' });
    });

    it('carries that a device has restarted', async () => {
      const { here, there } = harness.buses();
      const seen = new Promise<FeedTopics['restarted']>((resolve) => there.feed.subscribe('restarted', resolve));
      here.feed.publish('restarted', { deviceId: 'd-1' as DeviceId });
      expect(await seen).toEqual({ deviceId: 'd-1' });
    });

    it('carries whose access has changed', async () => {
      const { here, there } = harness.buses();
      const seen = new Promise<FeedTopics['access']>((resolve) => there.feed.subscribe('access', resolve));
      here.feed.publish('access', { principal: 'KEY:1' });
      expect(await seen).toEqual({ principal: 'KEY:1' });
    });

    it('protects other listeners and the publisher from a listener that throws', async () => {
      const { here } = harness.buses();
      const end = here.feed.subscribe('job', () => {
        throw new TypeError('a fault of the listener');
      });
      const others = jobsUntil(here.feed, 'after');
      here.feed.publish('job', jobMessage('before'));
      here.feed.publish('job', jobMessage('after'));
      expect(await others).toEqual(['before', 'after']);
      end();
    });

    it('delivers nothing after the subscription ended, not even waiting messages', async () => {
      const { here } = harness.buses();
      const seen: string[] = [];
      const end = here.feed.subscribe('job', ({ jobId }) => seen.push(jobId));
      const others = jobsUntil(here.feed, 'late');
      here.feed.publish('job', jobMessage('late'));
      end();
      await others;
      expect(seen).toEqual([]);
    });

    it('drops what a slow subscriber cannot take, instead of growing', async () => {
      const { here } = harness.buses();
      let count = 0;
      const isFirst = new Promise<void>((resolve) =>
        here.feed.subscribe('event', () => {
          count += 1;
          resolve();
        }),
      );
      for (let index = 0; index < 12_000; index += 1) {
        here.feed.publish('event', { id: String(index), type: 'flood', deviceId: undefined, at: index, data: {} });
      }
      await isFirst;
      const marker = jobsUntil(here.feed, 'marker');
      here.feed.publish('job', jobMessage('marker'));
      await marker;
      await expect.poll(() => count).toBe(10_000);
    });
  });
}
