import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EventFeed } from '@flotilla/bus';
import { adminKey, openApi, type OpenApi } from '../../mount/mounted-api.suite.js';

const CYCLES = process.env['FLOTILLA_TEST_LONG'] === '1' ? 10_000 : 300;
/** Open at once on the one connection. */
const AT_ONCE = 30;

let api: OpenApi;
let listening = 0;

beforeAll(async () => {
  api = await openApi();
  countListeners(api.feed);
  await api.addDevice('aa:00');
});
afterAll(() => api.close());

function countListeners(feed: EventFeed): void {
  const subscribe: EventFeed['subscribe'] = feed.subscribe.bind(feed);
  feed.subscribe = (topic, listener) => {
    const end = subscribe(topic, listener);
    listening++;
    return () => {
      listening--;
      end();
    };
  };
}

async function settled(expected: number): Promise<void> {
  for (let look = 0; look < 500 && listening !== expected; look++) await pause(10);
  expect(listening).toBe(expected);
}

describe(`${CYCLES} subscriptions that begin and end`, () => {
  it('leave no listener behind', { timeout: 300_000 }, async () => {
    const client = api.client(adminKey);
    const queries = [
      'deviceChanged(filter: {ids: ["aa:00"]}) { id }',
      'eventAdded { cursor }',
      'eventAdded(filter: {deviceId: "aa:00"}) { cursor }',
    ];
    const open = () =>
      queries.map((query) => {
        const stream = client.iterate({ query: `subscription { ${query} }` });
        return { stream, waiting: stream.next() };
      });
    const keeper = client.iterate({ query: 'subscription { deviceChanged { id } }' });
    const kept = keeper.next();
    // The socket's own look at keys, and the subscription that is kept.
    await settled(2);
    for (let done = 0; done < CYCLES; done += AT_ONCE) {
      const streams = Array.from({ length: AT_ONCE / queries.length }, open).flat();
      // All that listen to devices have one listener in common, and so have those to events.
      await settled(3);
      await Promise.all(streams.map(({ stream }) => stream.return?.()));
      await Promise.all(streams.map(({ waiting }) => waiting));
      await settled(2);
    }
    await keeper.return?.();
    await kept;
    await client.dispose();
    await settled(0);
  });
});
