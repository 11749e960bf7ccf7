import { describe, expect, it } from 'vitest';
import { backOffOf, pause } from './back-off.js';

const pauses = { backOffMs: 100, backOffMsMax: 1_000 };

describe('pauses between attempts', () => {
  it('double up to a bound, and lie in their upper half', () => {
    expect([1, 2, 3, 4, 5, 1_000].map((failures) => backOffOf(failures, pauses, 1))).toEqual([
      100, 200, 400, 800, 1_000, 1_000,
    ]);
    expect(backOffOf(3, pauses, 0)).toBe(200);
  });

  it('end with the signal', async () => {
    const ending = new AbortController();
    const waiting = pause(60_000, ending.signal);
    ending.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'ABORTED' });
    await expect(pause(60_000, AbortSignal.abort())).rejects.toMatchObject({ code: 'ABORTED' });
  });
});
