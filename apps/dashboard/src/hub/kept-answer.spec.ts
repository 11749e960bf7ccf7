import { CombinedError } from 'urql';
import { describe, expect, it } from 'vitest';
import { keptAnswer, readEvery } from './kept-answer';

const good = { key: 1, data: 'devices' };

describe('the last good answer', () => {
  it('stays while reads of the same request fail, also with half an answer', () => {
    expect(keptAnswer(good, { key: 1, data: undefined, hasFailed: true })).toBe('devices');
    expect(keptAnswer(good, { key: 1, data: null, hasFailed: true })).toBe('devices');
    expect(keptAnswer(good, { key: 1, data: 'dev', hasFailed: true })).toBe('devices');
  });

  it('gives way to the next good answer', () => {
    expect(keptAnswer(good, { key: 1, data: 'more devices', hasFailed: false })).toBe('more devices');
  });

  it('is not shown for other variables whose read fails', () => {
    expect(keptAnswer(good, { key: 2, data: undefined, hasFailed: true })).toBeUndefined();
  });

  it('is not there where none was: then half an answer is shown', () => {
    expect(keptAnswer(undefined, { key: 1, data: 'dev', hasFailed: true })).toBe('dev');
    expect(keptAnswer<string>(undefined, { key: 1, data: null, hasFailed: true })).toBeUndefined();
  });
});

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
