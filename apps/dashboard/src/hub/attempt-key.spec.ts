import { describe, expect, it } from 'vitest';
import { attemptKey, type AttemptStorage, endAttempt } from './attempt-key';

function storageOf(): AttemptStorage {
  const entries = new Map<string, string>();
  return {
    getItem: (name) => entries.get(name) ?? null,
    setItem: (name, value) => void entries.set(name, value),
    removeItem: (name) => void entries.delete(name),
  };
}

describe('the idempotency key of an attempt', () => {
  const lamps = { name: 'Lamps', arguments: { hue: 1 } };

  it('stays for the same content, also after a reload', () => {
    const storage = storageOf();
    expect(attemptKey(storage, 'job', { ...lamps })).toBe(attemptKey(storage, 'job', lamps));
  });

  it('is another one for another content, and the same again if the edit is undone', () => {
    const storage = storageOf();
    const first = attemptKey(storage, 'job', lamps);
    expect(attemptKey(storage, 'job', { ...lamps, arguments: { hue: 2 } })).not.toBe(first);
    expect(attemptKey(storage, 'job', lamps)).toBe(first);
  });

  it('is another one after success, for another attempt, and an hour later', () => {
    const storage = storageOf();
    const first = attemptKey(storage, 'job', lamps, 0);
    expect(attemptKey(storage, 'state', lamps, 0)).not.toBe(first);
    expect(attemptKey(storage, 'job', lamps, 3_599_999)).toBe(first);
    expect(attemptKey(storage, 'job', lamps, 3_600_000)).not.toBe(first);
    const later = attemptKey(storage, 'job', lamps, 3_600_000);
    endAttempt(storage, 'job');
    expect(attemptKey(storage, 'job', lamps, 3_600_000)).not.toBe(later);
  });

  it('is there also where the storage is full', () => {
    const setItem = () => {
      throw new DOMException('full', 'QuotaExceededError');
    };
    expect(attemptKey({ ...storageOf(), setItem }, 'job', lamps)).toMatch(/^console-/);
  });

  it('does not depend on what another program stored there', () => {
    const storage = { ...storageOf(), getItem: () => '{"key":1' };
    expect(attemptKey(storage, 'job', lamps)).toMatch(/^console-[0-9a-f]{32}-[0-9a-f]{1,8}$/);
  });
});
