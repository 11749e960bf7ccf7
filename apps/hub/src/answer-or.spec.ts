import { describe, expect, it } from 'vitest';
import { answerOr } from './answer-or.js';

describe('answerOr', () => {
  it('resolves to the answer', async () => {
    expect(await answerOr(Promise.resolve(5), 0)).toBe(5);
  });

  it('resolves to the fallback after a failure', async () => {
    expect(await answerOr(Promise.reject(new TypeError('away')), 0)).toBe(0);
  });

  it('resolves to the fallback after the timeout', async () => {
    expect(await answerOr(new Promise<number>(() => undefined), 0, 10)).toBe(0);
  });
});
