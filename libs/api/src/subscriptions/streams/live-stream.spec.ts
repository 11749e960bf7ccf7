import { describe, expect, it } from 'vitest';
import { liveStream } from './live-stream.js';
import { SubscriberQueue } from '../sockets/subscriber-queue.js';

describe('liveStream', () => {
  it('ends at once, cleaning up, although it waits for a value that never comes', async () => {
    const queue = new SubscriberQueue<number>(1);
    let isCleaned = false;
    const stream = liveStream(async function* (signal) {
      signal.addEventListener('abort', () => queue.close());
      try {
        for (let items = await queue.take(1); items; items = await queue.take(1)) yield* items;
      } finally {
        isCleaned = true;
      }
    });
    const waiting = stream.next();
    await stream.return();
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(isCleaned).toBe(true);
  });

  it('is an async iterable of what is produced', async () => {
    const stream = liveStream(async function* () {
      yield 1;
      yield 2;
    });
    const seen: number[] = [];
    for await (const value of stream) seen.push(value);
    expect(seen).toEqual([1, 2]);
  });
});
