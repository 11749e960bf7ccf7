import { describe, expect, it } from 'vitest';
import { inTime } from './in-time.js';

describe('inTime', () => {
  it('passes an answer on', async () => {
    expect(await inTime(Promise.resolve(5), 0)).toBe(5);
  });

  it('says otherwise where the answer is a failure', async () => {
    expect(await inTime(Promise.reject(new TypeError('away')), 0)).toBe(0);
  });

  it('says otherwise where no answer comes in time', async () => {
    expect(await inTime(new Promise<number>(() => undefined), 0, 10)).toBe(0);
  });
});
