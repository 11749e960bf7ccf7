import { describe, expect, it } from 'vitest';
import { withTimeout } from './with-timeout.js';

describe('withTimeout', () => {
  it('passes an answer on', async () => {
    expect(await withTimeout(Promise.resolve(5), 0)).toBe(5);
  });

  it('says otherwise where the answer is a failure', async () => {
    expect(await withTimeout(Promise.reject(new TypeError('away')), 0)).toBe(0);
  });

  it('says otherwise where no answer comes in time', async () => {
    expect(await withTimeout(new Promise<number>(() => undefined), 0, 10)).toBe(0);
  });
});
