import { describe, expect, it } from 'vitest';
import { withTimeout } from './with-timeout.js';

describe('withTimeout', () => {
  it('resolves to the answer', async () => {
    expect(await withTimeout(Promise.resolve(5), 0)).toBe(5);
  });

  it('resolves to the fallback after a failure', async () => {
    expect(await withTimeout(Promise.reject(new TypeError('away')), 0)).toBe(0);
  });

  it('resolves to the fallback after the timeout', async () => {
    expect(await withTimeout(new Promise<number>(() => undefined), 0, 10)).toBe(0);
  });
});
