import { expect, it } from 'vitest';
import { TokenBucket } from './token-bucket.js';

const rate = { burst: 3, perSecond: 2 };

it('begins full and refills at its rate up to the burst', () => {
  const bucket = new TokenBucket(rate, 0);
  expect(bucket.refill(rate, 0)).toBe(3);
  bucket.take(2);
  expect(bucket.refill(rate, 500)).toBe(2);
  expect(bucket.refill(rate, 60_000)).toBe(3);
});

it('gives one token at a time until it is empty', () => {
  const bucket = new TokenBucket(rate, 0);
  expect([0, 0, 0, 0, 499, 500].map((now) => bucket.takeOne(rate, now))).toEqual([
    true,
    true,
    true,
    false,
    false,
    true,
  ]);
});

it('can run into debt', () => {
  const bucket = new TokenBucket(rate, 0);
  bucket.take(5);
  expect(bucket.refill(rate, 0)).toBe(-2);
  expect(bucket.refill(rate, 1_000)).toBe(0);
});

it('gains nothing from a clock that is set back', () => {
  const bucket = new TokenBucket(rate, 9_000);
  bucket.take(3);
  expect(bucket.refill(rate, 1_000)).toBe(0);
  expect(bucket.refill(rate, 1_500)).toBe(1);
});
