import { CombinedError } from 'urql';
import { describe, expect, it } from 'vitest';
import { readEvery } from './read-again';

describe('a read that failed', () => {
  const refusal = (code: string) =>
    new CombinedError({ graphQLErrors: [{ message: 'no', extensions: { code } }], networkError: undefined });

  it('is repeated soon while the hub is away or cannot answer', () => {
    const away = new CombinedError({ networkError: new TypeError('Failed to fetch') });
    const soon = readEvery(undefined, away);
    expect(soon).toBeLessThanOrEqual(5_000);
    expect(readEvery(undefined, refusal('UNAVAILABLE'))).toBe(soon);
    expect(readEvery(60_000, away)).toBe(soon);
    expect(readEvery(1_000, away)).toBe(1_000);
  });

  it('is not repeated sooner where the hub would refuse it again, or where it succeeded', () => {
    for (const error of [refusal('FORBIDDEN'), refusal('BAD_USER_INPUT'), undefined]) {
      expect(readEvery(undefined, error)).toBeUndefined();
      expect(readEvery(60_000, error)).toBe(60_000);
    }
  });
});
