import { describe, expect, it } from 'vitest';
import { bearerKey } from './authentication.js';

describe('bearerKey', () => {
  it.each([
    ['Bearer abc', 'abc'],
    ['bearer  abc ', 'abc'],
  ])('reads the key of "%s"', (authorization, key) => {
    expect(bearerKey(authorization)).toBe(key);
  });

  it.each([undefined, null, 7, '', 'Bearer', 'Bearer ', 'Basic abc', 'Bearer a b', `Bearer ${'x'.repeat(513)}`])(
    'finds no key in %s',
    (authorization) => {
      expect(bearerKey(authorization)).toBeUndefined();
    },
  );
});
