import { describe, expect, it } from 'vitest';
import { SubscriberQueue } from './subscriber-queue.js';

describe('SubscriberQueue', () => {
  it('keeps the latest under a key, in the order in which the keys came', async () => {
    const queue = new SubscriberQueue<number>(10);
    queue.push('a', 1);
    queue.push('b', 2);
    queue.push('a', 3);
    expect(await queue.take(10)).toEqual([3, 2]);
  });

  it('drops the oldest when it is full, and counts', async () => {
    const queue = new SubscriberQueue<number>(2);
    for (const value of [1, 2, 3, 4]) queue.push(String(value), value);
    expect(await queue.take(10)).toEqual([3, 4]);
    expect(queue.droppedCount).toBe(2);
  });

  it('replaces in a full queue without dropping', () => {
    const queue = new SubscriberQueue<number>(1);
    queue.push('a', 1);
    queue.push('a', 2);
    expect(queue.droppedCount).toBe(0);
  });

  it('lets a taker wait for the next item', async () => {
    const queue = new SubscriberQueue<string>(1);
    const taken = queue.take(1);
    queue.push('a', 'late');
    expect(await taken).toEqual(['late']);
  });

  it('ends a waiting taker when it is closed, and takes nothing more', async () => {
    const queue = new SubscriberQueue<string>(1);
    const taken = queue.take(1);
    queue.close();
    queue.push('a', 'too late');
    expect(await taken).toBeUndefined();
    expect(await queue.take(1)).toBeUndefined();
  });
});
