import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { adminKey, openApi, type OpenApi } from '../../mount/mounted-api.suite.js';

const queueMax = 50;
/** Half of a moment's queue, so that who reads misses none. */
const atOnce = 25;
/** Of one event: many fill what the system holds between two processes. */
const dataBytes = 64_000;

let api: OpenApi;

beforeAll(async () => {
  api = await openApi({}, { subscriptionQueueMax: queueMax });
});
afterAll(() => api.close());

interface Seen {
  readonly type: string;
  readonly payload: readonly { readonly extensions: object }[] & {
    readonly data: { readonly eventAdded: { node: { data: { n: number } } } };
  };
}

/** Receives all messages of a subscriber to all events. */
async function subscribe(): Promise<{ socket: WebSocket; seen: Seen[] }> {
  const socket = new WebSocket(api.socketUrl, 'graphql-transport-ws');
  const seen: Seen[] = [];
  socket.on('open', () =>
    socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${adminKey}` } })),
  );
  await new Promise((resolve) => socket.once('message', resolve));
  socket.on('message', (data: Buffer) => seen.push(JSON.parse(data.toString()) as Seen));
  socket.send(
    JSON.stringify({ type: 'subscribe', id: '1', payload: { query: 'subscription { eventAdded { node { data } } }' } }),
  );
  return { socket, seen };
}

let published = 0;

function publish(): void {
  const data = { n: published++, text: 'x'.repeat(dataBytes) };
  api.feed.publish('event', { id: String(data.n), type: 'spec.flood', deviceId: undefined, at: Date.now(), data });
}

async function until(isSo: () => boolean): Promise<void> {
  for (let look = 0; look < 1_000 && !isSo(); look++) await pause(10);
  expect(isSo()).toBe(true);
}

function numbersIn(seen: readonly Seen[]): readonly number[] {
  return seen.filter(({ type }) => type === 'next').map(({ payload }) => payload.data.eventAdded.node.data.n);
}

describe('a subscriber that does not read', () => {
  it('receives everything until its subscription ends, and delays no other', { timeout: 60_000 }, async () => {
    const [slow, quick] = [await subscribe(), await subscribe()];
    await until(() => {
      publish();
      return slow.seen.length > 0 && quick.seen.length > 0;
    });
    await until(() => quick.seen.length === published - (numbersIn(quick.seen)[0] ?? 0));
    slow.socket.pause();
    for (let round = 0; round < 20; round++) {
      for (let each = 0; each < atOnce; each++) publish();
      await until(() => numbersIn(quick.seen).at(-1) === published - 1);
    }
    slow.socket.resume();
    await until(() => slow.seen.at(-1)?.type === 'error');
    const [first = -1, ...others] = numbersIn(slow.seen);
    expect(others).toEqual(others.map((_number, index) => first + 1 + index));
    expect(others.length).toBeLessThan(published - 1);
    expect(slow.seen.at(-1)?.payload).toMatchObject([{ extensions: { code: 'TOO_SLOW' } }]);
    expect(numbersIn(quick.seen).length).toBe(published - (numbersIn(quick.seen)[0] ?? 0));
    for (const { socket } of [slow, quick]) socket.terminate();
  });
});
