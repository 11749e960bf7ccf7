import { validate, version } from 'uuid';
import { describe, expect, it } from 'vitest';
import { newId } from './new-id.js';

describe('newId', () => {
  it('gives different ids to calls of the same millisecond, with that millisecond in front', () => {
    const at = Date.UTC(2026, 10, 21);
    const ids = Array.from({ length: 2_000 }, () => newId(at));
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) {
      expect(validate(id) && version(id) === 7).toBe(true);
      expect(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toBe(at);
    }
  });
});
