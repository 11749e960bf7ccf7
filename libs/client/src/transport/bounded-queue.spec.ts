import { describe, expect, it } from 'vitest';
import { BoundedQueue } from './bounded-queue.js';

const queueOf = (max: number) => new BoundedQueue<number>(max, () => new Error('too slow'));

describe('a bounded queue', () => {
  it('hands over what comes, before and after it is asked', async () => {
    const queue = queueOf(2);
    queue.push(1);
    expect(await queue.take()).toBe(1);
    const next = queue.take();
    queue.push(2);
    expect(await next).toBe(2);
    const end = queue.take();
    queue.close();
    expect(await end).toBeUndefined();
  });

  it('ends with one value too many, after those that it took', async () => {
    const queue = queueOf(2);
    for (const value of [1, 2, 3, 4]) queue.push(value);
    expect([await queue.take(), await queue.take()]).toEqual([1, 2]);
    await expect(queue.take()).rejects.toThrow('too slow');
  });
});
